// Figures of rliable and scipy: written by statistics_reference.py, which says how they were made.
#pragma once
#include <vector>

namespace reference {

inline constexpr int resamples = 2000;
inline constexpr unsigned seed = 20261;
// rliable 1.2.0, scipy 1.17.1, numpy 2.4.6
inline const std::vector<std::vector<double>> x = {
    {0.674, 0.412, 0.756, 0.593, 0.372, 0.924, 0.604, 0.648, 0.25, 0.493},
    {0.255, 0.812, 0.279, 1.185, 0.584, 0.553, 0.538, 0.332, 0.482, 0.713},
    {0.107, 0.508, 1.163, 0.1, -0.032, 0.44, 0.645, 0.696, 0.248, 0.221},
    {-0.231, 0.628, 0.281, 0.529, 0.338, 0.593, 0.085, 0.495, 0.753, 0.905}};
inline const std::vector<std::vector<double>> y = {
    {0.4, 0.5, 0.7, 0.6, 0.6, 0.1, 0.4},
    {0.9, 0.3, 0.8, 0.8, -0.0, 0.1, 0.5},
    {0.7, 0.6, 0.1, 0.3, 0.1, 0.7, 0.3},
    {0.1, 0.9, 0.5, 0.6, 0.6, 0.5, 0.3}};
inline const std::vector<std::vector<double>> taus = {
    {0.2, 0.5, 0.9}};
inline const std::vector<std::vector<double>> aggregates = {
    {0.498275, 0.5051, 0.5034, 0.16937499999999994, 0.525}};
inline const std::vector<std::vector<double>> run_scores = {
    {0.875, 0.525, 0.1}};
inline const std::vector<std::vector<double>> average_scores = {
    {1.0, 0.5, 0.0}};
inline const std::vector<std::vector<double>> ragged = {
    {1.14, 4.021, 1.58, 0.512, 3.055},
    {2.99, 3.639, 1.219, 1.257, 0.48, 4.112, 1.399},
    {1.0, 2.433, 1.611, 1.436, 2.377, 1.873, 4.138, 4.321, 1.383}};
inline const std::vector<std::vector<double>> skewed = {
    {1.879, 0.217, 0.459, 2.091, 2.037, 1.734, 0.946, 0.548, 0.943, 0.626, 1.125, 0.534, 0.75, 0.453, 0.031, 0.966, 1.188, 0.231}};
inline const std::vector<std::vector<double>> tied = {
    {0.0, 3.0, 1.0, 2.0, 0.0, 1.0, 3.0, 2.0, 3.0, 3.0, 2.0, 0.0, 2.0, 1.0, 1.0}};
inline const std::vector<std::vector<double>> pair = {
    {1.9, 0.2, 0.5, 2.1, 2.0, 1.7, 0.9, 0.5, 0.9, 0.6, 1.1, 0.5, 0.8, 0.5, 0.0, 1.0, 1.2, 0.2},
    {1.5, 0.8, 0.1, 4.4, 1.7, 1.6, 2.5, 3.5, 6.4, 1.2, 0.5}};
inline const std::vector<std::vector<double>> mean_of_ragged = {
    {1.6247852910052911, 2.746737962962963, 1.6664704304182516, 2.820629466967964}};
inline const std::vector<std::vector<double>> mean_of_skewed = {
    {0.6586416666666667, 1.2210430555555556, 0.6769324808135829, 1.2481450295107428}};
inline const std::vector<std::vector<double>> iqm_of_skewed = {
    {0.5437949999999999, 1.2265750000000002, 0.5271110043952325, 1.1725983277548675}};
inline const std::vector<std::vector<double>> mean_of_tied = {
    {1.0666666666666667, 2.1333333333333333, 1.0666666666666667, 2.1333333333333333}};
inline const std::vector<std::vector<double>> median_of_tied = {
    {1.0, 2.0, 1.0, 3.0}};
inline const std::vector<std::vector<double>> share_of_pair = {
    {0.09595959595959595, 0.5025883838383841, 0.12121212121212122, 0.5390361838045818}};

}  // namespace reference
