// Makes one self-contained HTML page about a result file: reproduction, tables, figures, method. The page makes no request of any kind.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/table/model.hpp"

namespace odrpo {

/// A figure: an <svg> element that svg_problem() accepts, with its title and caption.
struct PageFigure {
  std::string title, caption, svg;
};

/// The content of a page. Texts may come from an untrusted file; html_page() escapes them.
struct HtmlPage {
  std::string suite, program;                              ///< the suite's name; "odrpo-bench 0.1"
  std::string commands;                                    ///< shell commands that repeat the results, a line each
  std::vector<std::string> remarks;                        ///< below the commands, a sentence each
  std::vector<std::pair<std::string, std::string>> facts;  ///< (name, text): digest, version, compiler, …
  std::vector<TableModel> tables;
  std::vector<PageFigure> figures;
  std::vector<std::string> figure_notes;                       ///< why a figure is missing, a sentence each
  std::vector<std::pair<std::string, std::string>> documents;  ///< (title, text) shown verbatim when opened: suite, settings
  std::size_t runs = 0, failed = 0;
  std::vector<std::pair<std::string, std::string>> failures;  ///< (id, reason) of the first that failed
};

/// Most bytes of HTML of each kind in a page. The page leaves out the rest, and says so.
inline constexpr std::size_t page_table_bytes = 1'000'000, page_figure_bytes = 500'000, page_document_bytes = 120'000,
                             page_list_bytes = 60'000;
inline constexpr std::size_t page_columns = 100;  ///< most columns of one table, comparisons not counted

/// HTML5 of less than 2 MB, in light and dark. Its Content-Security-Policy allows only its own style and script, by their hashes. Failure
/// internal for a figure that svg_problem() refuses.
std::string html_page(const HtmlPage& page);

/// True for a page of odrpo-bench, judged by its first 512 bytes. Without -o, `report` replaces only such a file.
bool is_html_page(std::string_view text);

/// The drawing of an SVG document as an <svg> element: shapes and text alone. Styles become attributes. Ids begin with `prefix`, so that
/// several drawings in a page do not collide. `title` becomes the aria-label. Failure internal when it is no SVG.
std::string inline_svg(std::string_view document, const std::string& prefix, const std::string& title, double scale);

/// The first thing in a figure that a page does not allow; empty if there is none. A page allows elements and attributes of shapes and
/// text, and links to parts of the same drawing.
std::string svg_problem(std::string_view svg);

}  // namespace odrpo
