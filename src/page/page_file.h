// SPDX-License-Identifier: Apache-2.0
// The page as a file: the built front end (web/dist/page.html, embedded at build time) with data or
// without.
#pragma once

#include <string>
#include <string_view>

namespace plateau {

// The front end as it was built, with the two places that are filled below.
std::string_view page_template();

// A page that needs nothing else: `data_json` packed into its body, `title` in its head, and
// `plain_text` (the terminal report) for readers without JavaScript. All three may hold anything;
// none of it becomes markup.
std::string report_page(std::string_view title, std::string_view data_json,
                        std::string_view plain_text);

// The page that asks the server it came from (docs/serve.md).
std::string live_page();

}  // namespace plateau
