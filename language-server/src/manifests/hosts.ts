import { hostPattern } from '../../../protocol/src/manifests.ts';
import { replaceFix } from './edits.ts';
import { problem, type Report, type Span } from './problem.ts';

/**
 * Judges one entry of a host list: it must name hosts of one owner. A wildcard under a public suffix, a range of
 * addresses and anything that a resolver could read as another address than a person does is refused.
 */
export function checkHost(at: Span, host: string, report: Report): void {
  if (/^[*.]+(:|$)/.test(host)) return report(problem('any-host', at, [host]));
  if (
    /^[0-9a-f.:[\]]+\/[0-9]+$/i.test(host) ||
    (/^[0-9]+(\.[0-9*x-]+)*$/i.test(host) && /[*x-]/i.test(host))
  ) {
    return report(problem('host-range', at, [host]));
  }
  if (/:([0-9]+-[0-9]*|\*|)$/.test(host) && !/^\[?[0-9a-f:]+$/i.test(host))
    return report(problem('bad-port', at, [host]));
  if (!hostPattern.test(host)) {
    const meant = mended(host);
    return report(problem('bad-host', at, [host], meant === undefined ? undefined : replaceFix(at, meant)));
  }
  const port = /:([0-9]+)$/.exec(host.startsWith('[') ? host.slice(host.indexOf(']')) : host)?.[1];
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535))
    return report(problem('bad-port', at, [host]));
  const name = host.replace(/:[0-9]+$/, '');
  if (
    host.startsWith('[')
      ? !isIpv6(host.slice(1, host.indexOf(']')))
      : isOddAddress(name.replace(/^\*\./, ''), name)
  ) {
    return report(problem('bad-host', at, [host]));
  }
  const suffix = name.startsWith('*.') ? name.slice(2) : undefined;
  if (suffix !== undefined && isSharedSuffix(suffix)) report(problem('broad-host', at, [host, suffix]));
}

/** What a person most likely meant: the host of a URL, in small letters, without the closing dot. */
function mended(host: string): string | undefined {
  if (host.includes('::') && isIpv6(host)) return `[${host}]`;
  const bare = host
    .trim()
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replace(/[/?#].*$/s, '')
    .replace(/^.*@/, '')
    .replace(/\.(?=:|$)/, '');
  return bare !== host && hostPattern.test(bare) && !/^\*/.test(bare) ? bare : undefined;
}

/** True for a name whose last label is a number and that is not a plain IPv4 address: `0x7f.1`, `2130706433`, `*.1.2.3.4`. */
function isOddAddress(bare: string, name: string): boolean {
  const last = bare.slice(bare.lastIndexOf('.') + 1);
  if (!/^([0-9]+|0x[0-9a-f]*)$/.test(last)) return false;
  const parts = bare.split('.');
  return (
    name !== bare ||
    parts.length !== 4 ||
    !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)
  );
}

function isIpv6(text: string): boolean {
  const groups = text.split('::');
  if (groups.length > 2) return false;
  const counted = groups.flatMap((side) => (side === '' ? [] : side.split(':')));
  const mapped = /^[0-9]+(\.[0-9]+){3}$/.test(counted.at(-1) ?? '');
  const hex = mapped ? counted.slice(0, -1) : counted;
  const size = hex.length + (mapped ? 2 : 0);
  return hex.every((group) => /^[0-9a-f]{1,4}$/.test(group)) && (groups.length === 2 ? size < 8 : size === 8);
}

/**
 * True for a suffix under which strangers get names: a top-level domain, a second level that registries sell under
 * (`co.uk`), or a hosting service. A heuristic in place of the Public Suffix List, which would be the largest part of
 * the engine: it errs towards refusing.
 */
export function isSharedSuffix(suffix: string): boolean {
  const labels = suffix.split('.');
  if (labels.length === 1) return true;
  const [second = '', top = ''] = labels.slice(-2);
  if (labels.length === 2 && top.length === 2 && registryLabels.has(second)) return true;
  return hostingSuffixes.some(
    (hosting) => suffix === hosting || hosting.endsWith(`.${suffix}`) || isRegionOf(suffix, hosting),
  );
}

/** True for `eu-west-1.compute.amazonaws.com`: below a hosting suffix, and itself only a region or a service of it. */
function isRegionOf(suffix: string, hosting: string): boolean {
  if (!suffix.endsWith(`.${hosting}`)) return false;
  const own = suffix.slice(0, -hosting.length - 1).split('.');
  return own.every((label) => regionLabels.test(label));
}

const regionLabels =
  /^(s3|s3-website|compute|elb|execute-api|lambda-url|dualstack|[a-z]{2}(-[a-z]+)+-?[0-9]{1,2})$/;

const registryLabels: ReadonlySet<string> = new Set(
  'ac ad asn co com ed edu ens gen go gob gouv gov govt gr gv id info lg ltd me mil ne net nhs nom or org plc police re sch school web'.split(
    ' ',
  ),
);

const hostingSuffixes = (
  'amazonaws.com amazonaws.com.cn awsapps.com cloudfront.net elasticbeanstalk.com on.aws appspot.com run.app ' +
  'web.app firebaseapp.com firebaseio.com cloudfunctions.net googleusercontent.com storage.googleapis.com ' +
  'azurewebsites.net azureedge.net azurefd.net cloudapp.net cloudapp.azure.com blob.core.windows.net ' +
  'core.windows.net trafficmanager.net azurecontainerapps.io azurestaticapps.net github.io githubusercontent.com ' +
  'github.dev githubpreview.dev gitlab.io bitbucket.io pages.dev workers.dev r2.dev trycloudflare.com vercel.app ' +
  'now.sh netlify.app herokuapp.com herokudns.com onrender.com fly.dev railway.app deno.dev surge.sh glitch.me ' +
  'repl.co replit.dev replit.app ngrok.io ngrok.app ngrok.dev ngrok-free.app ngrok-free.dev loca.lt localtunnel.me ' +
  'serveo.net devtunnels.ms requestbin.net pipedream.net webhook.site oast.fun oast.pro interact.sh blogspot.com ' +
  'wordpress.com tumblr.com wixsite.com weebly.com digitaloceanspaces.com ondigitalocean.app b-cdn.net fastly.net ' +
  'akamaized.net akamaihd.net edgekey.net backblazeb2.com wasabisys.com hf.space streamlit.app nip.io sslip.io ' +
  'duckdns.org dyndns.org no-ip.org ddns.net eu.org in-addr.arpa ip6.arpa uk.com us.com eu.com de.com com.de'
).split(' ');
