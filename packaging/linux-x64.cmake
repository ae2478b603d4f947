# What ./dev release ships for Linux on x64 is compiled as everything else here, but of libraries that packaging/libraries.sh made.
file(GLOB libraries ${CMAKE_CURRENT_LIST_DIR}/../build/libraries/linux-x64/*/include)
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${libraries})
list(TRANSFORM libraries REPLACE "/include$" "")
set(CMAKE_PREFIX_PATH ${libraries})
