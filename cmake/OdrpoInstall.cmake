# What `cmake --install` puts where: the numerics as package `odrpo` (docs/library.md, component library), and the program with its suites and
# pages when built (component program). cmake/OdrpoPackages.cmake makes a package of each.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/odrpo)
set(_share ${CMAKE_INSTALL_DATADIR}/odrpo-bench)

install(TARGETS ${_libraries} odrpo_core EXPORT odrpo ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/odrpo)
install(EXPORT odrpo NAMESPACE odrpo:: FILE odrpoTargets.cmake DESTINATION ${_package} COMPONENT library)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/odrpoConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/odrpoConfig.cmake
  INSTALL_DESTINATION ${_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/odrpoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/odrpoConfig.cmake ${PROJECT_BINARY_DIR}/cmake/odrpoConfigVersion.cmake DESTINATION ${_package} COMPONENT library)

# Headers, but for those that only our own sources can use: simd.hpp, by_levels.hpp and by_sums.hpp are for files compiled once per instruction set, random.hpp needs
# Random123, json.hpp nlohmann-json, and code for devices is in no installed library.
set(_not_here PATTERN simd.hpp EXCLUDE PATTERN by_levels.hpp EXCLUDE PATTERN by_sums.hpp EXCLUDE PATTERN random.hpp EXCLUDE PATTERN sampled_judge.hpp EXCLUDE PATTERN json.hpp EXCLUDE PATTERN device EXCLUDE PATTERN system EXCLUDE)
if(NOT TARGET odrpo_agreement)
  list(APPEND _not_here PATTERN agreement.hpp EXCLUDE PATTERN exchangeability.hpp EXCLUDE PATTERN score_sums.hpp EXCLUDE PATTERN score_statistics.hpp EXCLUDE)
endif()
install(DIRECTORY kernels estimators envs policies DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/odrpo COMPONENT library FILES_MATCHING PATTERN "*.hpp" ${_not_here})

install(FILES estimators/outside/odrpo_estimator.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT program)  # for libraries that compute advantages
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff DESTINATION ${_share} COMPONENT program)
install(DIRECTORY examples DESTINATION ${_share} COMPONENT program)
install(DIRECTORY docs DESTINATION ${_share} COMPONENT program FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
if(ODRPO_FEW_LIBRARIES)  # notices of the libraries that are in the program, as Debian has them
  foreach(_name IN ITEMS libhdf5-dev zlib1g-dev libaec-dev libssl-dev libre2-dev libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev librandom123-dev)
    install(FILES /usr/share/doc/${_name}/copyright DESTINATION ${_share}/third-party RENAME ${_name} COMPONENT program)
  endforeach()
  install(FILES /usr/share/common-licenses/Apache-2.0 DESTINATION ${_share}/third-party COMPONENT program)
endif()
if(TARGET odrpo-bench)
  install(TARGETS odrpo-bench DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  install(TARGETS odrpo-count-allocations DESTINATION lib/odrpo-bench COMPONENT program)  # where the command `gate` looks for it
  install(DIRECTORY suites DESTINATION ${_share} COMPONENT program FILES_MATCHING PATTERN "*.toml" PATTERN "*.schema.json")
  # completion and man pages, which the program prints
  set(_made ${PROJECT_BINARY_DIR}/completion)
  install(CODE "
    file(REMOVE_RECURSE \"${_made}\")  # pages of earlier commands
    file(MAKE_DIRECTORY \"${_made}\")
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"$<TARGET_FILE:odrpo-bench>\" completion \${shell} OUTPUT_FILE \"${_made}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND \"$<TARGET_FILE:odrpo-bench>\" completion man -o \"${_made}/man1\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(FILES ${_made}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME odrpo-bench COMPONENT program)
  install(FILES ${_made}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _odrpo-bench COMPONENT program)
  install(FILES ${_made}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME odrpo-bench.fish COMPONENT program)
  install(DIRECTORY ${_made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
endif()
if(TARGET odrpo-bench-perf)
  install(TARGETS odrpo-bench-perf DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program OPTIONAL)  # the command `bench` looks for it beside the program
endif()
include(OdrpoPackages)
