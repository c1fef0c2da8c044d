/**
 * Tries to leave this frame in ways that its policy must stop, and believes only the browser's own report that it
 * stopped them: a request that merely failed proves nothing. Resolves with what was found open; empty means closed.
 */
export async function findOpenDoors(window: Window & typeof globalThis): Promise<string> {
  if (window.origin !== 'null') return `the frame has the origin ${window.origin}`;
  if (Object.getOwnPropertyNames(window).some((name) => name.includes('RTCPeerConnection'))) {
    return 'WebRTC is there';
  }
  const open = await Promise.all([
    isBlocked(window, 'connect-src', () => void window.fetch(probeUrl).catch(() => undefined)),
    isBlocked(window, 'img-src', () => (new window.Image().src = probeUrl)),
  ]);
  if (!open[0]) return 'requests are not blocked';
  return open[1] ? '' : 'images are not blocked';
}

/** RFC 6761: `.invalid` never resolves, so that a frame which is open sends nothing either. */
const probeUrl = 'https://probe.invalid/';
const waitMs = 3000;

function isBlocked(window: Window, directive: string, attempt: () => unknown): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), waitMs);
    const listener = (event: SecurityPolicyViolationEvent) => {
      if (event.effectiveDirective === directive && event.disposition === 'enforce') done(true);
    };
    const done = (blocked: boolean) => {
      clearTimeout(timer);
      window.document.removeEventListener('securitypolicyviolation', listener);
      resolve(blocked);
    };
    window.document.addEventListener('securitypolicyviolation', listener);
    attempt();
  });
}
