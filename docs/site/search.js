// Searches the pages: on search.html it loads lunr and the index as scripts, which also works for pages opened as files.
(function () {
  const found = document.getElementById("mkdocs-search-results");
  if (!found) return;
  const input = document.getElementById("mkdocs-search-query");
  const titles = new Map();
  const script = (name) => new Promise((done, failed) => {
    const element = document.createElement("script");
    element.src = base_url + "/search/" + name;
    element.onload = done;
    element.onerror = failed;
    document.head.append(element);
  });

  function show(pages, words) {
    found.replaceChildren();
    for (const page of pages) {
      const article = document.createElement("article"), heading = document.createElement("h3"), link = document.createElement("a"), text = document.createElement("p");
      link.href = base_url + "/" + page.location;
      const whole = titles.get(page.location.split("#")[0]);
      link.textContent = whole && whole !== page.title ? page.title + " (" + whole + ")" : page.title;
      // the text around the first word that it has
      const lower = page.text.toLowerCase();
      const at = Math.min(...words.map((word) => lower.indexOf(word)).filter((place) => place >= 0), lower.length);
      const from = at > 60 && at < lower.length ? page.text.indexOf(" ", at - 60) + 1 : 0;
      text.textContent = (from ? "… " : "") + page.text.slice(from, from + 240);
      heading.append(link);
      article.append(heading, text);
      found.append(article);
    }
    if (!pages.length) found.append(words.length ? "No results found" : "");
  }

  Promise.all([script("lunr.js"), script("search_index.js")]).then(() => {
    const pages = new Map(odrpoPages.map((page) => [page.location, page]));
    for (const page of odrpoPages) if (!page.location.includes("#")) titles.set(page.location, page.title);
    const index = lunr(function () {
      this.field("title", { boost: 5 });
      this.field("text");
      this.ref("location");
      for (const page of odrpoPages) this.add(page, { boost: page.location.startsWith("lab/") ? 0.3 : 1 });
    });
    const search = () => {
      const words = input.value.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).filter((word) => word.length > 1);
      // all words; then those that go on as the last one begins
      const ask = (begun) => words.length ? index.query((query) => words.forEach((word, place) => {
        const open = begun && place === words.length - 1;
        query.term(word, { presence: lunr.Query.presence.REQUIRED, usePipeline: !open, wildcard: open ? lunr.Query.wildcard.TRAILING : lunr.Query.wildcard.NONE });
      })) : [];
      const whole = ask(false), seen = new Set(whole.map((hit) => hit.ref));
      const hits = [...whole, ...ask(true).filter((hit) => !seen.has(hit.ref))];
      show(hits.slice(0, 50).map((hit) => pages.get(hit.ref)), words);
    };
    input.addEventListener("input", search);
    const asked = new URLSearchParams(location.search).get("q");
    if (asked) input.value = asked;
    search();
  }, () => found.append("The index of the search could not be loaded."));
})();
