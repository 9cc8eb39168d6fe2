# How our own code is compiled. FOREBAY_SANITIZE (a preset sets it) is empty, "thread" or
# "address,undefined"; the hardening of a release stays out of sanitized builds.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# No -DNDEBUG: fb_assert stays on in what users run.
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")

# Hardening, for our code and for what is compiled in beside it.
set(FOREBAY_HARDENING -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i.86")
    list(APPEND FOREBAY_HARDENING -fcf-protection=full)
endif()

add_library(forebay_flags INTERFACE)
target_compile_definitions(forebay_flags INTERFACE _GNU_SOURCE)
target_compile_options(forebay_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Werror
    -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=) # __FILE__ is src/..., wherever the tree lies
if(CMAKE_C_COMPILER_ID MATCHES Clang) # librdkafka's RD_KAFKA_V_... are statement expressions
    target_compile_options(forebay_flags INTERFACE -Wno-gnu-statement-expression)
endif()
target_link_options(forebay_flags INTERFACE -Wl,--as-needed)

if(FOREBAY_SANITIZE)
    set(sanitize -fsanitize=${FOREBAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(forebay_flags INTERFACE -O1 ${sanitize})
    if(CMAKE_C_COMPILER_ID STREQUAL GNU) # instrumented code leads its flow analysis astray
        target_compile_options(forebay_flags INTERFACE -Wno-format-truncation -Wno-maybe-uninitialized)
    endif()
    target_link_options(forebay_flags INTERFACE ${sanitize})
elseif(CMAKE_BUILD_TYPE STREQUAL Release)
    target_compile_options(forebay_flags INTERFACE ${FOREBAY_HARDENING})
    target_link_options(forebay_flags INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
endif()
