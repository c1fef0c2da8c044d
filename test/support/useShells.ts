import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { listen, serveShells } from './webviews.ts';

type Shells = Awaited<ReturnType<typeof serveShells>>;

/** What a suite that looks at webviews has: the built shells, a browser, and for each test a context of its own. */
export interface ShellSuite {
  readonly shellUrl: Shells['shellUrl'];
  readonly origin: string;
  readonly browser: Browser;
  readonly context: BrowserContext;
}

/** Starts and ends all of it for the suite that calls this; nothing can be asked of it before its hooks have run. */
export function useShells(options: BrowserContextOptions = {}): ShellSuite {
  let browser: Browser | undefined;
  let shells: Shells | undefined;
  let context: BrowserContext | undefined;
  before(async () => {
    shells = await serveShells();
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await shells?.close();
  });
  beforeEach(async () => {
    context = await browser?.newContext(options);
  });
  afterEach(() => context?.close());
  return {
    shellUrl: (kind) => started(shells).shellUrl(kind),
    get origin() {
      return started(shells).origin;
    },
    get browser() {
      return started(browser);
    },
    get context() {
      return started(context);
    },
  };
}

/** A page of a test's own on loopback, for what must succeed where no shell is in the way. */
export interface BareDocument {
  html: string;
  readonly origin: string;
}

/** Serves whatever `html` is at the moment, for the suite that calls this. */
export function useBareDocument(): BareDocument {
  let server: Awaited<ReturnType<typeof listen>> | undefined;
  const document = {
    html: '',
    get origin() {
      return started(server).origin;
    },
  };
  before(async () => {
    server = await listen((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(document.html);
    });
  });
  after(() => server?.close());
  return document;
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The hooks of the suite have not run');
  return value;
}
