# cmake -DFOLDER=... -P: copies every shared library that the programs in FOLDER need to FOLDER/lib, but those of the C library, which belong
# to the machine.
file(GLOB _programs LIST_DIRECTORIES false ${FOLDER}/odrpo-bench* ${FOLDER}/test_*)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${_programs} RESOLVED_DEPENDENCIES_VAR _found UNRESOLVED_DEPENDENCIES_VAR _missing
  PRE_EXCLUDE_REGEXES "^(ld-linux|libc\\.so|libm\\.so|libdl\\.so|librt\\.so|libpthread\\.so|libresolv\\.so|libnss)" "^libcuda\\.so")
if(_missing)
  message(FATAL_ERROR "not found: ${_missing}")
endif()
foreach(_library IN LISTS _found)
  file(INSTALL ${_library} DESTINATION ${FOLDER}/lib FOLLOW_SYMLINK_CHAIN)
endforeach()
