# Read by cpack for each form of package: the tarball has the program alone, in one folder; Debian packages are one for each component.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_COMPONENTS_ALL program)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
else()
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package's description begins with its own
endif()
