// Lays the tables of a report out: as text of 80 columns, or as Markdown.
#pragma once
#include <string>
#include <vector>

namespace odrpo::app {

/// A table with its legend. The first row holds the headings; the first column names the rows.
struct PageTable {
  std::string title;                           ///< of Markdown; in text the first heading says it
  std::vector<std::vector<std::string>> rows;  ///< empty: only the legend
  std::vector<std::string> legend;             ///< paragraphs, that define the numbers
};

struct ReportPage {
  std::vector<std::string> heading;  ///< paragraphs
  std::vector<PageTable> tables;
};

std::string page_text(const ReportPage& page);
std::string page_markdown(const ReportPage& page);

}  // namespace odrpo::app
