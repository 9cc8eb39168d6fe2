# The libraries we link: the pinned ones from the folder that tools/setup.sh made (or that
# FOREBAY_DEPS names), the others from the system. Nothing is downloaded here.

set(deps_note ${CMAKE_SOURCE_DIR}/build/deps_prefix.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${deps_note})
if(NOT DEFINED FOREBAY_DEPS)
    if(DEFINED ENV{FOREBAY_DEPS})
        set(FOREBAY_DEPS $ENV{FOREBAY_DEPS})
    elseif(EXISTS ${deps_note})
        file(STRINGS ${deps_note} FOREBAY_DEPS LIMIT_COUNT 1)
    endif()
endif()
if(NOT EXISTS "${FOREBAY_DEPS}/lib/libduckdb.so")
    message(FATAL_ERROR "The pinned libraries are not there yet: run tools/setup.sh once.")
endif()

# A release has the same bytes from whatever folder it is built in.
if(CMAKE_BUILD_TYPE STREQUAL Release)
    add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${FOREBAY_DEPS}/=deps/)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml>=0.7.12)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl>=7.75)
pkg_check_modules(OPENSSL REQUIRED IMPORTED_TARGET openssl>=3.0)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# DuckDB stands beside the program, where its run path looks. A hard link saves 70 MB a preset.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
file(REMOVE ${CMAKE_BINARY_DIR}/lib/libduckdb.so)
file(CREATE_LINK ${FOREBAY_DEPS}/lib/libduckdb.so ${CMAKE_BINARY_DIR}/lib/libduckdb.so COPY_ON_ERROR)
add_library(duckdb SHARED IMPORTED)
set_target_properties(duckdb PROPERTIES
    IMPORTED_LOCATION ${CMAKE_BINARY_DIR}/lib/libduckdb.so
    INTERFACE_INCLUDE_DIRECTORIES ${FOREBAY_DEPS}/include)

# ThreadSanitizer must see all threads and locks, so it has a librdkafka of its own.
set(rdkafka_archive ${FOREBAY_DEPS}/lib/librdkafka.a)
if(FOREBAY_SANITIZE STREQUAL thread)
    set(rdkafka_archive ${FOREBAY_DEPS}/lib/librdkafka-tsan.a)
    if(NOT EXISTS ${rdkafka_archive})
        message(FATAL_ERROR "${rdkafka_archive} is not there: run tools/setup.sh full once.")
    endif()
endif()
add_library(rdkafka STATIC IMPORTED)
set_target_properties(rdkafka PROPERTIES
    IMPORTED_LOCATION ${rdkafka_archive}
    INTERFACE_INCLUDE_DIRECTORIES ${FOREBAY_DEPS}/include)
target_link_libraries(rdkafka INTERFACE PkgConfig::CURL PkgConfig::OPENSSL PkgConfig::ZSTD
                      PkgConfig::LZ4 PkgConfig::ZLIB Threads::Threads m ${CMAKE_DL_LIBS})

add_library(yyjson STATIC ${FOREBAY_DEPS}/src/yyjson/yyjson.c)
target_compile_options(yyjson PRIVATE -w)
if(FOREBAY_SANITIZE) # it reads and writes our memory, so that is watched; its arithmetic is not
    string(REPLACE ",undefined" "" sanitize_yyjson ${FOREBAY_SANITIZE})
    target_compile_options(yyjson PRIVATE -O1 -fsanitize=${sanitize_yyjson})
else()
    target_compile_options(yyjson PRIVATE -O3 ${FOREBAY_HARDENING})
endif()
target_include_directories(yyjson SYSTEM PUBLIC ${FOREBAY_DEPS}/include)
set_target_properties(yyjson PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_library(forebay_libraries INTERFACE)
target_link_libraries(forebay_libraries INTERFACE duckdb rdkafka yyjson PkgConfig::FYAML)
