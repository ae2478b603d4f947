# For cpack --config: a .deb of what packaging/release.py has laid out as a root folder. What differs is in the environment.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dnheap)
set(CPACK_PACKAGE_VENDOR "The dnheap authors")
set(CPACK_PACKAGE_VERSION "$ENV{DNHEAP_VERSION}")
set(CPACK_PACKAGE_FILE_NAME "$ENV{DNHEAP_FILE}")
set(CPACK_PACKAGE_DIRECTORY "$ENV{DNHEAP_OUT}")
set(CPACK_INSTALLED_DIRECTORIES "$ENV{DNHEAP_ROOT}" /)
set(CPACK_PACKAGING_INSTALL_PREFIX /)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "reads the managed heap of .NET processes out of their dumps")
set(CPACK_PACKAGE_DESCRIPTION "What fills the heap, who holds it, what would be freed without it, and
what grew from one dump to the next: of .NET 8 to 11, out of Linux
and macOS cores and Windows minidumps, and of processes that run. Needs
neither Microsoft's debugging library (the DAC) nor the runtime that the
process ran on, and no network.")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "$ENV{DNHEAP_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "$ENV{DNHEAP_ARCHITECTURE}")
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_STRIP_FILES OFF)
