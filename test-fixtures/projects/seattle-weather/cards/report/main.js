// One page of HTML from three other cards. It is shown in a frame that reaches nothing.
const escape = (value) =>
  String(value).replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign]);

const table = (rows) => {
  const names = Object.keys(rows[0] ?? {});
  const head = names.map((name) => `<th scope="col">${escape(name)}</th>`).join('');
  const body = rows
    .map((row) => `<tr>${names.map((name) => `<td>${escape(row[name] ?? '')}</td>`).join('')}</tr>`)
    .join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
};

export default function ({ inputs, params }) {
  const sunniest = Object.entries(inputs.counts).sort(([, a], [, b]) => b.sun - a.sun)[0];
  const wettest = inputs.monthly.toSorted((a, b) => b.rain - a.rain)[0];
  return {
    page: `<!doctype html>
<html lang="en">
<title>${escape(params.title)}</title>
<style>
  body { font-family: var(--vscode-font-family, system-ui); margin: 1.5rem; line-height: 1.5; }
  table { border-collapse: collapse; margin-block: 0.5rem 1.5rem; }
  th, td { padding: 0.2rem 0.8rem; text-align: end; border-bottom: 1px solid color-mix(in srgb, currentcolor 25%, transparent); }
  th:first-child, td:first-child { text-align: start; }
</style>
<h1>${escape(params.title)}</h1>
<p>The sunniest month was <strong>${escape(sunniest[0])}</strong> with ${sunniest[1].sun} sunny days in four years.
The wettest was <strong>${escape(wettest.month)}</strong> with ${escape(wettest.rain)} mm of rain.</p>
<h2>By month</h2>
${table(inputs.monthly)}
<h2>Hottest days</h2>
${table(inputs.hottest)}
</html>`,
  };
}
