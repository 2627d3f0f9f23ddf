# Run by cpack before it packs: what Debian's policy wants in each package and CPack does not write: copyright, changelog.gz, gzipped man pages;
# zsh's completion stands where Debian's zsh looks.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Debian's form of CHANGELOG.md: "## 0.2.0 (2026-11-29)" and items become a stanza
file(STRINGS ${CPACK_ODRPO_SOURCE}/CHANGELOG.md _lines ENCODING UTF-8)
function(odrpo_changelog variable package)
  set(text "")
  set(date "")
  foreach(line IN LISTS _lines ITEMS "## end (1970-01-01)")
    if(line MATCHES "^## ([^ ]+) \\(([0-9-]+)\\)$")
      set(version ${CMAKE_MATCH_1})
      set(next ${CMAKE_MATCH_2})
      if(date)
        string(APPEND text "\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n\n")
      endif()
      execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C date -u -R -d ${next} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      if(NOT version STREQUAL "end")
        string(APPEND text "${package} (${version}) unstable; urgency=medium\n\n")
      endif()
    elseif(date AND line MATCHES "^- (.*)$")
      string(APPEND text "  * ${CMAKE_MATCH_1}\n")
    elseif(date AND line MATCHES "^  ([^ ].*)$")
      string(APPEND text "    ${CMAKE_MATCH_1}\n")
    endif()
  endforeach()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# LICENSE is a title, a notice of copyright and the text
file(READ ${CPACK_ODRPO_SOURCE}/LICENSE _license)
if(NOT _license MATCHES "\n\nCopyright \\(c\\) ([^\n]+)\n\n(.+)\n$")
  message(FATAL_ERROR "LICENSE has another form")
endif()
set(_holder "${CMAKE_MATCH_1}")
string(REGEX REPLACE "\n\n" "\n.\n" _text "${CMAKE_MATCH_2}")
string(REGEX REPLACE "\n" "\n " _text "${_text}")
set(_copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: odrpo-bench
Comment:
 The licenses of libraries in the program are in /usr/share/odrpo-bench/third-party.

Files: *
Copyright: ${_holder}
License: Expat
 ${_text}
")

file(RENAME ${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/zsh/site-functions ${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/zsh/vendor-completions)
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/program/usr/share/lintian/overrides/odrpo-bench
  "# linked statically with HDF5, so that one package serves every release (docs/install.md)\nodrpo-bench: embedded-library zlib [usr/bin/odrpo-bench]\n")
foreach(_component IN ITEMS program library)
  string(TOUPPER ${_component} _upper)
  set(_package ${CPACK_DEBIAN_${_upper}_PACKAGE_NAME})
  set(_root ${CPACK_TEMPORARY_DIRECTORY}/${_component}/usr/share)
  odrpo_changelog(_changelog ${_package})
  file(WRITE ${_root}/doc/${_package}/copyright "${_copyright}")
  file(WRITE ${_root}/doc/${_package}/changelog "${_changelog}")
  file(GLOB _packed ${_root}/doc/${_package}/changelog ${_root}/man/man1/*.1)
  execute_process(COMMAND gzip -9nf ${_packed} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE _written ${_root}/doc/* ${_root}/man/* ${_root}/lintian/*)
  file(CHMOD ${_written} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
