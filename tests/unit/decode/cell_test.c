/* cell_test.c - JSON values and what they become, type by type: the table of the docs'
 * types page, read back from a data chunk. */
#include "tests/unit/decode/rows.h"

TEST(a_string_keeps_what_it_is)
{
    BECOMES("string", "\"x\"", "x");
    BECOMES("string", "\"\"", "");
    BECOMES("string", "1", "1");
    BECOMES("string", "1.50", "1.50");
    BECOMES("string", "-0.0E+00", "-0.0E+00");
    BECOMES("string", "1e999999999", "1e999999999");
    BECOMES("string", "9007199254740993", "9007199254740993");
    BECOMES("string", "true", "true");
    BECOMES("string", "false", "false");
    BECOMES("string", "null", "NULL");
    BECOMES("string", "\"null\"", "null");
    BECOMES("string", "\"  \\t\"", "  \t");
    BECOMES("string", "\"\\u00e9\\ud83d\\ude00\"", "\xc3\xa9\xf0\x9f\x98\x80");
    BECOMES("string",
            "\"a string of more than twelve bytes, which the engine keeps elsewhere\"",
            "a string of more than twelve bytes, which the engine keeps elsewhere");
}

TEST(an_object_in_a_string_column_is_its_compact_text_only_when_lenient)
{
    REFUSES("string", "{}", "cast_error");
    REFUSES("string", "[1]", "cast_error");
    BECOMES("string ~", "{\"b\": 1.50, \"a\" : [ ] , \"b2\":\"\\u0041\\n\"}",
            "{\"b\":1.50,\"a\":[],\"b2\":\"A\\n\"}");
    BECOMES("string ~", "[1, 1e999999999, -0.0, null]", "[1,1e999999999,-0.0,null]");
}

TEST(a_strict_boolean_is_exactly_true_or_false)
{
    BECOMES("bool", "true", "true");
    BECOMES("bool", "false", "false");
    BECOMES("bool", "\"true\"", "true");
    BECOMES("bool", "\"false\"", "false");
    BECOMES("bool", "null", "NULL");
    REFUSES("bool", "\"True\"", "cast_error");
    REFUSES("bool", "\"\"", "cast_error");
    REFUSES("bool", "\"1\"", "cast_error");
    REFUSES("bool", "1", "cast_error");
    REFUSES("bool", "0", "cast_error");
    REFUSES("bool", "\"true\\u0000\"", "cast_error");
}

TEST(a_lenient_boolean_takes_any_case_and_ones_and_zeros)
{
    BECOMES("bool ~", "\"TRUE\"", "true");
    BECOMES("bool ~", "\"False\"", "false");
    BECOMES("bool ~", "1", "true");
    BECOMES("bool ~", "0", "false");
    BECOMES("bool ~", "\"1\"", "true");
    BECOMES("bool ~", "\"0\"", "false");
    REFUSES("bool ~", "\"yes\"", "cast_error");
    REFUSES("bool ~", "2", "cast_error");
    REFUSES("bool ~", "1.0", "cast_error");
    REFUSES("bool ~", "\"\"", "cast_error");
    REFUSES("bool ~", "[true]", "cast_error");
}

TEST(every_whole_number_type_takes_its_bounds_and_nothing_beyond)
{
    BECOMES("int8", "-128", "-128");
    BECOMES("int8", "127", "127");
    REFUSES("int8", "128", "out_of_range");
    REFUSES("int8", "-129", "out_of_range");
    BECOMES("int16", "-32768", "-32768");
    BECOMES("int16", "32767", "32767");
    REFUSES("int16", "32768", "out_of_range");
    REFUSES("int16", "-32769", "out_of_range");
    BECOMES("int32", "-2147483648", "-2147483648");
    BECOMES("int32", "2147483647", "2147483647");
    REFUSES("int32", "2147483648", "out_of_range");
    REFUSES("int32", "-2147483649", "out_of_range");
    BECOMES("int64", "-9223372036854775808", "-9223372036854775808");
    BECOMES("int64", "9223372036854775807", "9223372036854775807");
    REFUSES("int64", "9223372036854775808", "out_of_range");
    REFUSES("int64", "-9223372036854775809", "out_of_range");
    BECOMES("uint8", "255", "255");
    REFUSES("uint8", "256", "out_of_range");
    REFUSES("uint8", "-1", "out_of_range");
    BECOMES("uint16", "65535", "65535");
    REFUSES("uint16", "65536", "out_of_range");
    REFUSES("uint16", "-1", "out_of_range");
    BECOMES("uint32", "4294967295", "4294967295");
    REFUSES("uint32", "4294967296", "out_of_range");
    BECOMES("uint64", "18446744073709551615", "18446744073709551615");
    REFUSES("uint64", "18446744073709551616", "out_of_range");
    REFUSES("uint64", "-1", "out_of_range");
    BECOMES("uint64", "-0", "0");
    REFUSES("int64", "99999999999999999999999999999999999999", "out_of_range");
    REFUSES("int64", "999999999999999999999999999999999999999999", "out_of_range");
}

TEST(a_whole_number_may_be_written_with_a_point_or_an_exponent)
{
    BECOMES("int64", "7.0", "7");
    BECOMES("int64", "7e0", "7");
    BECOMES("int64", "1e3", "1000");
    BECOMES("int64", "1E+3", "1000");
    BECOMES("int64", "12.50e1", "125");
    BECOMES("int64", "1200e-2", "12");
    BECOMES("int64", "0e999999999", "0");
    BECOMES("int64", "-0.0", "0");
    BECOMES("int64", "9007199254740993.0", "9007199254740993");
    BECOMES("int64", "922337203685477580.7e1", "9223372036854775807");
    BECOMES("int8", "0.00000000000000000000000000000000000000000127e44", "127");
    REFUSES("int64", "1.5", "cast_error");
    REFUSES("int64", "1e-400", "cast_error");
    REFUSES("int64", "15e-1", "cast_error");
    REFUSES("int64", "1E400", "out_of_range");
    REFUSES("int64", "1e18446744073709551617", "out_of_range");
    REFUSES("int64", "1e-18446744073709551617", "cast_error");
}

TEST(a_text_of_digits_is_a_whole_number_only_when_lenient)
{
    REFUSES("int64", "\"7\"", "cast_error");
    BECOMES("int64 ~", "\"7\"", "7");
    BECOMES("int64 ~", "\"-5\"", "-5");
    BECOMES("int64 ~", "\"9007199254740993\"", "9007199254740993");
    BECOMES("int64 ~", "\"9223372036854775807\"", "9223372036854775807");
    BECOMES("uint64 ~", "\"18446744073709551615\"", "18446744073709551615");
    REFUSES("int64 ~", "\"9223372036854775808\"", "out_of_range");
    REFUSES("uint8 ~", "\"-1\"", "out_of_range");
    REFUSES("int64 ~", "\"1e2\"", "cast_error");
    REFUSES("int64 ~", "\"7.0\"", "cast_error");
    REFUSES("int64 ~", "\" 7\"", "cast_error");
    REFUSES("int64 ~", "\"7 \"", "cast_error");
    REFUSES("int64 ~", "\"+7\"", "cast_error");
    REFUSES("int64 ~", "\"07\"", "cast_error");
    REFUSES("int64 ~", "\"-\"", "cast_error");
    REFUSES("int64 ~", "\"\"", "cast_error");
    REFUSES("int64 ~", "\"0x10\"", "cast_error");
    REFUSES("int64 ~", "\"7\\u0000\"", "cast_error");
    REFUSES("int64 ~", "\"\\uff17\"", "cast_error"); // a full-width seven
    REFUSES("int64 ~", "true", "cast_error");
    REFUSES("int64 ~", "[1]", "cast_error");
    REFUSES("int64 ~", "{}", "cast_error");
}

TEST(a_float_is_the_nearest_number_and_never_infinite)
{
    BECOMES("float64", "2.5", "2.5");
    BECOMES("float64", "7", "7");
    BECOMES("float64", "0.1", "0.10000000000000001");
    BECOMES("float64", "1.7976931348623157e308", "1.7976931348623157e+308");
    BECOMES("float64", "4.9e-324", "4.9406564584124654e-324");
    BECOMES("float64", "9007199254740993", "9007199254740992");
    REFUSES("float64", "1e309", "out_of_range");
    REFUSES("float64", "-1e400", "out_of_range");
    REFUSES("float64", "1e999999999", "out_of_range");
    BECOMES("float32", "0.1", "0.100000001");
    BECOMES("float32", "3.4028234663852886e38", "3.40282347e+38");
    REFUSES("float32", "3.5e38", "out_of_range");
    REFUSES("float32", "-3.5e38", "out_of_range");
    /* One rounding, not two: this is above the middle of two floats, but only just. */
    BECOMES("float32", "1.00000017881393432617187500001", "1.00000024");
}

TEST(a_negative_zero_stays_negative_in_a_float)
{
    BECOMES("float64", "-0.0", "-0");
    BECOMES("float64", "-0", "-0");
    BECOMES("float64", "-0e5", "-0");
    BECOMES("float32", "-0", "-0");
    BECOMES("float32", "-0.0", "-0");
    BECOMES("float64 ~", "\"-0\"", "-0");
}

TEST(a_number_too_small_for_a_float_is_its_nearest_which_is_zero)
{
    BECOMES("float64", "1e-400", "0");
    BECOMES("float64", "-1e-400", "-0");
    BECOMES("float32", "1e-60", "0");
}

TEST(a_float_of_a_thousand_digits_is_read_whole)
{
    char number[1100];
    memset(number, '0', sizeof number);
    memcpy(number, "0.", 2);
    memcpy(number + 1000, "5e990", 6);
    CHECK_TEXT(value_becomes("float64", number), "5.0000000000000001e-09");
    memcpy(number + 1000, "5e999", 6);
    CHECK_TEXT(value_becomes("float64", number), "5");
}

TEST(a_text_is_a_float_only_when_lenient)
{
    REFUSES("float64", "\"1\"", "cast_error");
    REFUSES("float64", "\"NaN\"", "cast_error");
    BECOMES("float64 ~", "\"1e3\"", "1000");
    BECOMES("float64 ~", "\"-2.5\"", "-2.5");
    BECOMES("float64 ~", "\"NaN\"", "nan");
    BECOMES("float64 ~", "\"inf\"", "inf");
    BECOMES("float64 ~", "\"-Infinity\"", "-inf");
    BECOMES("float32 ~", "\"+inf\"", "inf");
    BECOMES("float32 ~", "\"nan\"", "nan");
    REFUSES("float64 ~", "\"1e309\"", "out_of_range");
    REFUSES("float64 ~", "\"1,5\"", "cast_error");
    REFUSES("float64 ~", "\" 2.5 \"", "cast_error");
    REFUSES("float64 ~", "\"0x10\"", "cast_error");
    REFUSES("float64 ~", "\".5\"", "cast_error");
    REFUSES("float64 ~", "\"5.\"", "cast_error");
    REFUSES("float64 ~", "\"\"", "cast_error");
    REFUSES("float64 ~", "\"nano\"", "cast_error");
    REFUSES("float64 ~", "\"1\\u0000\"", "cast_error");
    REFUSES("float64 ~", "true", "cast_error");
    REFUSES("float64 ~", "[]", "cast_error");
}

TEST(a_decimal_is_exact_or_refused)
{
    BECOMES("decimal(4,2)", "12.34", "12.34");
    BECOMES("decimal(4,2)", "12.3", "12.30");
    BECOMES("decimal(4,2)", "12.340", "12.34");
    BECOMES("decimal(4,2)", "1234e-2", "12.34");
    BECOMES("decimal(4,2)", "-99.99", "-99.99");
    REFUSES("decimal(4,2)", "100", "out_of_range");
    REFUSES("decimal(4,2)", "-100.00", "out_of_range");
    REFUSES("decimal(4,2)", "12.345", "cast_error");
    BECOMES("decimal(2,2)", "0.99", "0.99");
    REFUSES("decimal(2,2)", "1", "out_of_range");
    BECOMES("decimal(9,0)", "999999999", "999999999");
    REFUSES("decimal(9,0)", "1000000000", "out_of_range");
    BECOMES("decimal(18,6)", "123456789012.345678", "123456789012.345678");
    BECOMES("decimal(38,0)", "99999999999999999999999999999999999999",
            "99999999999999999999999999999999999999");
    BECOMES("decimal(38,2)", "-123456789012345678901234567890123456.78",
            "-123456789012345678901234567890123456.78");
    BECOMES("decimal(38,38)", "0.12345678901234567890123456789012345678",
            "0.12345678901234567890123456789012345678");
    REFUSES("decimal(38,0)", "100000000000000000000000000000000000000", "out_of_range");
    REFUSES("decimal(38,38)", "0.123456789012345678901234567890123456789", "cast_error");
    BECOMES("decimal(5,1)", "-0.0", "0.0");
    BECOMES("decimal(5,1)", "0e999999999", "0.0");
    REFUSES("decimal(38,0)", "1e38", "out_of_range");
    BECOMES("decimal(38,0)", "1e37", "10000000000000000000000000000000000000");
    REFUSES("decimal(5,1)", "true", "cast_error");
    REFUSES("decimal(5,1)", "{}", "cast_error");
}

TEST(a_decimal_takes_a_text_of_digits_exactly_strict_or_lenient)
{
    BECOMES("decimal(20,18)", "\"12.345678901234567890\"", "12.345678901234567890");
    BECOMES("decimal(4,2) ~", "\"-0.5\"", "-0.50");
    REFUSES("decimal(4,2)", "\"\"", "cast_error");
    REFUSES("decimal(4,2)", "\" 1\"", "cast_error");
    REFUSES("decimal(4,2)", "\"1,5\"", "cast_error");
    REFUSES("decimal(4,2)", "\"1.005\"", "cast_error");
    REFUSES("decimal(4,2)", "\"1\\u00002\"", "cast_error");
    REFUSES("decimal(4,2)", "\"NaN\"", "cast_error");
}

TEST(an_exponent_that_is_enormous_does_not_become_a_small_one)
{
    static char number[120100], message[120200];
    rows       *r = &(rows){0};
    memset(number, '0', sizeof number);
    number[0] = '1';
    memcpy(number + 100001, "e-1000000", 10); // 10^-900000, not 1
    REQUIRE(rows_open(r, "n int64; d decimal(9,2)", &plain_options) == FB_OK);
    snprintf(message, sizeof message, "{\"n\":%s}", number);
    CHECK_TEXT(rows_read(r, message), "cast_error");
    snprintf(message, sizeof message, "{\"d\":%s}", number);
    CHECK_TEXT(rows_read(r, message), "cast_error");
    memcpy(number + 100001, "e-100000", 9); // and this is 1
    snprintf(message, sizeof message, "{\"n\":%s}", number);
    CHECK_TEXT(rows_read(r, message), "");
    CHECK_TEXT(rows_cell(r, 0), "1");
    rows_close(r);
}

TEST(a_date_is_a_day_of_the_calendar)
{
    BECOMES("date", "\"2024-02-29\"", "2024-02-29");
    BECOMES("date", "\"0001-01-01\"", "0001-01-01");
    BECOMES("date", "\"9999-12-31\"", "9999-12-31");
    BECOMES("date", "\"1969-12-31\"", "1969-12-31");
    BECOMES("date", "\"2000-02-29\"", "2000-02-29");
    REFUSES("date", "\"1900-02-29\"", "cast_error");
    REFUSES("date", "\"2023-02-29\"", "cast_error");
    REFUSES("date", "\"2024-13-01\"", "cast_error");
    REFUSES("date", "\"2024-00-01\"", "cast_error");
    REFUSES("date", "\"2024-01-32\"", "cast_error");
    REFUSES("date", "\"2024-01-00\"", "cast_error");
    REFUSES("date", "\"2024/01/02\"", "cast_error");
    REFUSES("date", "\"02-01-2024\"", "cast_error");
    REFUSES("date", "\"2024-1-2\"", "cast_error");
    REFUSES("date", "\"2024-01-02T00:00:00\"", "cast_error");
    REFUSES("date", "\" 2024-01-02\"", "cast_error");
    REFUSES("date", "\"+024-01-02\"", "cast_error");
    REFUSES("date", "\"0000-12-31\"", "out_of_range");
    REFUSES("date", "\"\"", "cast_error");
    REFUSES("date", "19782", "cast_error");
    REFUSES("date", "true", "cast_error");
}

TEST(a_lenient_date_takes_days_since_1970)
{
    BECOMES("date ~", "19782", "2024-02-29");
    BECOMES("date ~", "-1", "1969-12-31");
    BECOMES("date ~", "0", "1970-01-01");
    BECOMES("date ~", "-719162", "0001-01-01");
    BECOMES("date ~", "2932896", "9999-12-31");
    REFUSES("date ~", "2932897", "out_of_range");
    REFUSES("date ~", "-719163", "out_of_range");
    REFUSES("date ~", "1e40", "out_of_range");
    REFUSES("date ~", "1.5", "cast_error");
    REFUSES("date ~", "\"19782\"", "cast_error");
}

TEST(a_time_of_day_has_up_to_six_digits_of_a_second)
{
    BECOMES("time", "\"03:04:05\"", "03:04:05.000000");
    BECOMES("time", "\"03:04:05.1\"", "03:04:05.100000");
    BECOMES("time", "\"23:59:59.999999\"", "23:59:59.999999");
    BECOMES("time", "\"00:00:00\"", "00:00:00.000000");
    REFUSES("time", "\"03:04\"", "cast_error");
    REFUSES("time", "\"25:00:00\"", "cast_error");
    REFUSES("time", "\"24:00:00\"", "cast_error");
    REFUSES("time", "\"23:59:60\"", "cast_error");
    REFUSES("time", "\"23:60:00\"", "cast_error");
    REFUSES("time", "\"03:04:05.\"", "cast_error");
    REFUSES("time", "\"03:04:05.1234567\"", "cast_error");
    REFUSES("time", "\"03:04:05Z\"", "cast_error");
    REFUSES("time", "\"3:04:05\"", "cast_error");
    REFUSES("time", "11045", "cast_error");
    BECOMES("time ~", "\"03:04\"", "03:04:00.000000");
    REFUSES("time ~", "\"03:4\"", "cast_error");
    REFUSES("time ~", "\"24:00\"", "cast_error");
    REFUSES("time ~", "\"abcde\"", "cast_error");
}

TEST(a_timestamp_is_the_right_instant_of_utc)
{
    BECOMES("timestamp", "\"2024-01-02T03:04:05Z\"", "2024-01-02T03:04:05.000000Z");
    BECOMES("timestamp", "\"2024-01-02T03:04:05.123456Z\"",
            "2024-01-02T03:04:05.123456Z");
    BECOMES("timestamp", "\"2024-01-02T03:04:05.1+02:00\"",
            "2024-01-02T01:04:05.100000Z");
    BECOMES("timestamp", "\"2024-01-01T00:30:00-0130\"", "2024-01-01T02:00:00.000000Z");
    BECOMES("timestamp", "\"2024-01-01T00:30:00+01\"", "2023-12-31T23:30:00.000000Z");
    BECOMES("timestamp", "\"2024-02-29T23:59:59-00:01\"", "2024-03-01T00:00:59.000000Z");
    BECOMES("timestamp", "\"2024-01-02T03:04:05.123456000Z\"",
            "2024-01-02T03:04:05.123456Z");
    REFUSES("timestamp", "\"2024-01-02T03:04:05.1234567Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05.1234560000Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02 03:04:05Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02t03:04:05Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05+19:00\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05+18:01\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05+02:60\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T03:04:05 +02:00\"", "cast_error");
    REFUSES("timestamp", "\"2024-01-02T24:00:00Z\"", "cast_error");
    REFUSES("timestamp", "\"2016-12-31T23:59:60Z\"", "cast_error");
    REFUSES("timestamp", "\"2024-02-30T03:04:05Z\"", "cast_error");
    REFUSES("timestamp", "\"abc\"", "cast_error");
    REFUSES("timestamp", "\"\"", "cast_error");
    REFUSES("timestamp", "1700000000", "cast_error");
}

TEST(a_lenient_timestamp_reads_what_lacks_an_offset_as_utc)
{
    BECOMES("timestamp ~", "\"2024-01-02T03:04:05\"", "2024-01-02T03:04:05.000000Z");
    BECOMES("timestamp ~", "\"2024-01-02 03:04:05+02:00\"",
            "2024-01-02T01:04:05.000000Z");
    BECOMES("timestamp ~", "\"2024-01-02 03:04\"", "2024-01-02T03:04:00.000000Z");
    BECOMES("timestamp ~", "\"2024-01-02T03:04Z\"", "2024-01-02T03:04:00.000000Z");
    BECOMES("timestamp ~", "\"2024-01-02\"", "2024-01-02T00:00:00.000000Z");
    REFUSES("timestamp ~", "\"2024-01-02T\"", "cast_error");
    REFUSES("timestamp ~", "\"2024-01-02T03\"", "cast_error");
    REFUSES("timestamp ~", "\"2024-01-02T03:04:5\"", "cast_error");
    REFUSES("timestamp ~", "\"2024-01-02Z\"", "cast_error");
    REFUSES("timestamp ~", "\"20240102T030405Z\"", "cast_error");
    REFUSES("timestamp ~", "1700000000", "cast_error");
}

TEST(a_timestamp_outside_the_years_1_to_9999_is_out_of_range)
{
    BECOMES("timestamp", "\"0001-01-01T00:00:00Z\"", "0001-01-01T00:00:00.000000Z");
    BECOMES("timestamp", "\"9999-12-31T23:59:59.999999Z\"",
            "9999-12-31T23:59:59.999999Z");
    REFUSES("timestamp", "\"0001-01-01T00:00:00+00:01\"", "out_of_range");
    REFUSES("timestamp", "\"9999-12-31T23:59:59-00:01\"", "out_of_range");
    REFUSES("timestamp", "\"0000-06-01T00:00:00Z\"", "out_of_range");
}

TEST(a_local_timestamp_refuses_an_offset_which_it_would_drop)
{
    BECOMES("timestamp_ntz", "\"2024-01-02T03:04:05.000001\"",
            "2024-01-02T03:04:05.000001");
    REFUSES("timestamp_ntz", "\"2024-01-02T03:04:05Z\"", "cast_error");
    REFUSES("timestamp_ntz ~", "\"2024-01-02T03:04:05+02:00\"", "cast_error");
    REFUSES("timestamp_ntz", "\"2024-01-02 03:04:05\"", "cast_error");
    BECOMES("timestamp_ntz ~", "\"2024-01-02 03:04:05\"", "2024-01-02T03:04:05.000000");
    BECOMES("timestamp_ntz ~", "\"2024-01-02 03:04\"", "2024-01-02T03:04:00.000000");
    BECOMES("timestamp_ntz ~", "\"2024-01-02\"", "2024-01-02T00:00:00.000000");
}

TEST(binary_is_padded_base64_without_stray_bits)
{
    BECOMES("binary", "\"\"", "");
    BECOMES("binary", "\"AA==\"", "00");
    BECOMES("binary", "\"/w==\"", "ff");
    BECOMES("binary", "\"AAE=\"", "0001");
    BECOMES("binary", "\"AAEC\"", "000102");
    BECOMES("binary", "\"Zm9yZWJheQ==\"", "666f7265626179");
    BECOMES("binary", "\"+/+/\"", "fbffbf");
    REFUSES("binary", "\"AA\"", "cast_error");
    REFUSES("binary", "\"AA=\"", "cast_error");
    REFUSES("binary", "\"A===\"", "cast_error");
    REFUSES("binary", "\"====\"", "cast_error");
    REFUSES("binary", "\"AA=A\"", "cast_error");
    REFUSES("binary", "\"AAA=AAAA\"", "cast_error");
    REFUSES("binary", "\"AB==\"", "cast_error");
    REFUSES("binary", "\"AAF=\"", "cast_error");
    REFUSES("binary", "\"-_-_\"", "cast_error");
    REFUSES("binary", "\"AA A\"", "cast_error");
    REFUSES("binary", "\"\\u0000AAA\"", "cast_error");
    REFUSES("binary", "\"\\u00e9AA\"", "cast_error");
    REFUSES("binary", "7", "cast_error");
}

TEST(a_uuid_has_32_hexadecimal_digits_and_4_dashes)
{
    BECOMES("uuid", "\"123e4567-e89b-12d3-a456-426614174000\"",
            "123e4567-e89b-12d3-a456-426614174000");
    BECOMES("uuid", "\"F23E4567-E89B-12D3-A456-426614174ABC\"",
            "f23e4567-e89b-12d3-a456-426614174abc");
    BECOMES("uuid", "\"00000000-0000-0000-0000-000000000000\"",
            "00000000-0000-0000-0000-000000000000");
    BECOMES("uuid", "\"ffffffff-ffff-ffff-ffff-ffffffffffff\"",
            "ffffffff-ffff-ffff-ffff-ffffffffffff");
    REFUSES("uuid", "\"123e4567e89b12d3a456426614174000\"", "cast_error");
    REFUSES("uuid", "\"123e4567-e89b-12d3-a456-42661417400g\"", "cast_error");
    REFUSES("uuid", "\"123e4567-e89b-12d3-a456-4266141740001\"", "cast_error");
    REFUSES("uuid", "\"123e45670e89b-12d3-a456-426614174000\"", "cast_error");
    REFUSES("uuid", "\"{23e4567-e89b-12d3-a456-426614174000}\"", "cast_error");
    REFUSES("uuid", "\"\"", "cast_error");
    REFUSES("uuid", "7", "cast_error");
}

TEST(a_json_column_keeps_any_value_as_its_text)
{
    BECOMES("json", "{\"b\":1.50,\"a\":[1, 2]}", "{\"b\":1.50,\"a\":[1,2]}");
    BECOMES("json", "\"x\"", "\"x\"");
    BECOMES("json", "1.50", "1.50");
    BECOMES("json", "12345678901234567890123456789012345678901234567890",
            "12345678901234567890123456789012345678901234567890");
    BECOMES("json", "true", "true");
    BECOMES("json", "[]", "[]");
    BECOMES("json", "null", "NULL");
    BECOMES("json", "\"\\u0000\\ud83d\\ude00\"", "\"\\u0000\xf0\x9f\x98\x80\"");
}

TEST(null_is_null_in_every_type)
{
    static const char *const types[] = {
        "string",       "bool",   "int8",   "int16",     "int32",         "int64",
        "uint8",        "uint16", "uint32", "uint64",    "float32",       "float64",
        "decimal(9,2)", "date",   "time",   "timestamp", "timestamp_ntz", "binary",
        "uuid",         "json",   "int64 ~"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        CHECK_TEXT(value_becomes(types[i], "null"), "NULL");
}

TEST(the_raw_value_of_a_refused_cell_is_shown_as_it_came)
{
    rows *r = &(rows){0};
    REQUIRE(rows_open(r, "b binary; n int64; s string", &plain_options) == FB_OK);
    CHECK_TEXT(rows_read(r, "{\"b\":\"QUJDREVGR0hJ!A==\"}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].raw, "QUJDREVGR0hJ!A==");
    CHECK_TEXT(rows_read(r, "{\"b\":\"QUJDREVGR0hJAB==\"}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].raw, "QUJDREVGR0hJAB==");
    CHECK_TEXT(r->refusals.list[0].path, "$.b");
    CHECK_TEXT(rows_read(r, "{\"n\":1.50}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].raw, "1.50");
    CHECK_TEXT(rows_read(r, "{\"n\": true}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].raw, "true");
    CHECK_TEXT(rows_read(r, "{\"s\": {\"a\": [1.0]}}"), "cast_error");
    CHECK_TEXT(r->refusals.list[0].raw, "{\"a\":[1.0]}");
    rows_close(r);
}
