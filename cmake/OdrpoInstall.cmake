# What `cmake --install` puts where: the numerics as package `odrpo` (docs/library.md), and the program with its suites and pages when built.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/odrpo)
set(_share ${CMAKE_INSTALL_DATADIR}/odrpo-bench)

install(TARGETS ${_libraries} odrpo_core EXPORT odrpo ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/odrpo)
install(EXPORT odrpo NAMESPACE odrpo:: FILE odrpoTargets.cmake DESTINATION ${_package})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/odrpoConfig.cmake.in ${PROJECT_BINARY_DIR}/cmake/odrpoConfig.cmake
  INSTALL_DESTINATION ${_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/odrpoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/odrpoConfig.cmake ${PROJECT_BINARY_DIR}/cmake/odrpoConfigVersion.cmake DESTINATION ${_package})

# Headers, but for those that only our own sources can use: simd.hpp, by_levels.hpp and by_sums.hpp are for files compiled once per instruction set, random.hpp needs
# Random123, json.hpp nlohmann-json, and code for devices is in no installed library.
set(_not_here PATTERN simd.hpp EXCLUDE PATTERN by_levels.hpp EXCLUDE PATTERN by_sums.hpp EXCLUDE PATTERN random.hpp EXCLUDE PATTERN sampled_judge.hpp EXCLUDE PATTERN json.hpp EXCLUDE PATTERN device EXCLUDE PATTERN system EXCLUDE)
if(NOT TARGET odrpo_agreement)
  list(APPEND _not_here PATTERN agreement.hpp EXCLUDE PATTERN exchangeability.hpp EXCLUDE PATTERN score_sums.hpp EXCLUDE PATTERN score_statistics.hpp EXCLUDE)
endif()
install(DIRECTORY kernels estimators envs policies DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/odrpo FILES_MATCHING PATTERN "*.hpp" ${_not_here})

install(FILES estimators/outside/odrpo_estimator.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})  # for libraries that compute advantages
install(FILES README.md LICENSE DESTINATION ${_share})
install(DIRECTORY examples DESTINATION ${_share})
install(DIRECTORY docs DESTINATION ${_share} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
if(TARGET odrpo-bench)
  install(TARGETS odrpo-bench DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS odrpo-count-allocations DESTINATION lib/odrpo-bench)  # where the command `gate` looks for it
  install(DIRECTORY suites DESTINATION ${_share} FILES_MATCHING PATTERN "*.toml" PATTERN "*.schema.json")
  # completion and man pages, which the program prints
  set(_made ${PROJECT_BINARY_DIR}/completion)
  install(CODE "
    file(REMOVE_RECURSE \"${_made}\")  # pages of earlier commands
    file(MAKE_DIRECTORY \"${_made}\")
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"$<TARGET_FILE:odrpo-bench>\" completion \${shell} OUTPUT_FILE \"${_made}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    execute_process(COMMAND \"$<TARGET_FILE:odrpo-bench>\" completion man -o \"${_made}/man1\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${_made}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME odrpo-bench)
  install(FILES ${_made}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _odrpo-bench)
  install(FILES ${_made}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME odrpo-bench.fish)
  install(DIRECTORY ${_made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
if(TARGET odrpo-bench-perf)
  install(TARGETS odrpo-bench-perf DESTINATION ${CMAKE_INSTALL_BINDIR} OPTIONAL)  # the command `bench` looks for it beside the program
endif()
