// `odrpo-bench explain`: the advantages of one group, level by level, under every convention.
#include "app/command.hpp"
#include "app/explain/explain_group.hpp"
#include "app/usage.hpp"

namespace odrpo::app {

int explain(const ExplainOptions& options) {
  const Explanation group = explain_group(options);
  put(options.json ? explanation_json(group) : explanation_text(group, options.verbose));
  return 0;
}

}  // namespace odrpo::app
