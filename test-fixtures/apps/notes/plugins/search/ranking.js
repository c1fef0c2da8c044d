/**
 * An index of words: for each word how often it stands in which note. Ranked by BM25 (Robertson and Zaragoza, "The
 * Probabilistic Relevance Framework: BM25 and Beyond", 2009) with its usual constants.
 */
const saturation = 1.2;
const lengthWeight = 0.75;

export function emptyIndex() {
  return { version: 1, words: {}, lengths: {} };
}

export function put(index, path, text) {
  remove(index, path);
  const words = wordsOf(text);
  index.lengths[path] = words.length;
  for (const word of words) {
    const places = (index.words[word] ??= {});
    places[path] = (places[path] ?? 0) + 1;
  }
}

export function remove(index, path) {
  if (!(path in index.lengths)) return;
  delete index.lengths[path];
  for (const [word, places] of Object.entries(index.words)) {
    delete places[path];
    if (Object.keys(places).length === 0) delete index.words[word];
  }
}

/** Paths with scores, the best first. The last word of a question may be unfinished. */
export function rank(index, query) {
  const asked = wordsOf(query);
  const lengths = Object.values(index.lengths);
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(lengths.length, 1) || 1;
  const scores = {};
  asked.forEach((word, at) => {
    const isLast = at === asked.length - 1;
    const meant = isLast ? Object.keys(index.words).filter((each) => each.startsWith(word)) : [word];
    for (const each of meant) {
      const places = index.words[each] ?? {};
      const count = Object.keys(places).length;
      const rarity = Math.log(1 + (lengths.length - count + 0.5) / (count + 0.5));
      for (const [path, times] of Object.entries(places)) {
        const length = 1 - lengthWeight + (lengthWeight * index.lengths[path]) / average;
        const weight = (times * (saturation + 1)) / (times + saturation * length);
        scores[path] = (scores[path] ?? 0) + rarity * weight;
      }
    }
  });
  return Object.entries(scores)
    .map(([path, score]) => ({ path, score }))
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** Words in small letters, without accents. Prefixed, so that none is a name that objects have already. */
function wordsOf(text) {
  const plain = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `=${word.slice(0, 40)}`);
}
