import * as z from 'zod/mini';
import { notification, request } from './contract.ts';
import { cardRunView, cardStatus, cardView, logLine, runSummary } from './engine.ts';
import { portType } from './manifests.ts';

/**
 * Extension ↔ webviews. A webview is the least trusted peer: it shows what it is told and asks for acts by name; the
 * extension checks each and asks the engine. One pair of sides for each webview.
 */

const card = z.strictObject({ card: z.string() });
const empty = z.strictObject({});

/** What the extension answers for the canvas. */
export const canvasHost = {
  requests: {
    'canvas/ready': request(empty, z.null()),
    'canvas/runProject': request(empty, z.null()),
    'canvas/runCard': request(card, z.null()),
    'canvas/cancel': request(empty, z.null()),
    'canvas/openManifest': request(card, z.null()),
    'canvas/openCode': request(card, z.null()),
    'canvas/openResult': request(card, z.null()),
    'canvas/openRun': request(empty, z.null()),
    'canvas/reviewPermissions': request(empty, z.null()),
  },
  notifications: {},
} as const;

/** What the canvas hears. */
export const canvasView = {
  requests: {},
  notifications: {
    'canvas/project': notification(
      z.strictObject({
        /** Kept in the webview's state, so that the panel comes back to its project after a reload. */
        root: z.string(),
        name: z.string(),
        trusted: z.boolean(),
        cards: z.array(cardView),
        run: z.nullable(runSummary),
      }),
    ),
    'canvas/delta': notification(
      z.strictObject({
        run: runSummary,
        cards: z.array(z.strictObject({ id: z.string(), status: cardStatus })),
      }),
    ),
    /** A sentence to show in place of the graph: no project, engine stopped, … */
    'canvas/message': notification(z.strictObject({ text: z.string() })),
  },
} as const;

export const pictureFormat = z.enum(['png', 'svg']);
export type PictureFormat = z.infer<typeof pictureFormat>;

/** The scripts that run inside the opaque frame: its own, and the drawing libraries. */
export const libraryNames = ['view', 'vega', 'plotly'] as const;

/** What the extension answers for the run view. */
export const runHost = {
  requests: {
    'run/ready': request(empty, z.null()),
    'run/readLog': request(
      z.strictObject({ cardRunId: z.string(), fromLine: z.int(), count: z.int() }),
      z.strictObject({ lines: z.array(logLine), totalLines: z.int(), cutBytes: z.int() }),
    ),
    /** Bytes of an output, base64; a directory gives its listing as JSON text. Refused above 32 MiB. */
    'run/readOutput': request(
      z.strictObject({ card: z.string(), port: z.string() }),
      z.strictObject({ type: portType, base64: z.string(), sizeBytes: z.int() }),
    ),
    /** The source of a library that is run inside the opaque frame. */
    'run/readLibrary': request(
      z.strictObject({ name: z.enum(libraryNames) }),
      z.strictObject({ text: z.string() }),
    ),
    'run/openOutput': request(z.strictObject({ card: z.string(), port: z.string() }), z.null()),
    /** Opens a card's own page, scripts and all, sealed, in an editor tab of its own. */
    'run/openPage': request(z.strictObject({ card: z.string(), port: z.string() }), z.null()),
    /** Asks a person where to save a picture of a view. Resolves false on cancel. */
    'run/savePicture': request(
      z.strictObject({ name: z.string(), format: pictureFormat, base64: z.string() }),
      z.strictObject({ saved: z.boolean() }),
      { timeoutMs: 0 },
    ),
    'run/why': request(card, z.strictObject({ lines: z.array(z.string()) })),
    'run/cancel': request(empty, z.null()),
    'run/again': request(empty, z.null()),
    'run/openEgressLog': request(empty, z.null()),
  },
  notifications: {},
} as const;

/** What the run view hears. */
export const runWebview = {
  requests: {},
  notifications: {
    'run/state': notification(
      z.strictObject({ run: runSummary, cards: z.array(cardRunView), selected: z.nullable(z.string()) }),
    ),
    'run/cards': notification(z.strictObject({ run: runSummary, cards: z.array(cardRunView) })),
    'run/logGrew': notification(z.strictObject({ cardRunId: z.string(), totalLines: z.int() })),
    'run/message': notification(z.strictObject({ text: z.string() })),
  },
} as const;

/** What the extension answers for the page of one card-owned HTML output. */
export const pageHost = {
  requests: {
    /** The source of the frame's own script and the page to show in it. */
    'page/ready': request(
      empty,
      z.strictObject({ frameScript: z.string(), title: z.string(), html: z.string() }),
    ),
  },
  notifications: {},
} as const;

/** What the page hears: nothing; what it shows is fixed when it opens. */
export const pageWebview = { requests: {}, notifications: {} } as const;

/** The colours and fonts of the theme, for a frame that VS Code's variables do not reach. Values of CSS properties. */
export const viewTheme = z.strictObject({
  kind: z.enum(['light', 'dark', 'high-contrast', 'high-contrast-light']),
  foreground: z.string(),
  background: z.string(),
  border: z.string(),
  accent: z.string(),
  fontFamily: z.string(),
  fontSize: z.string(),
  monospaceFamily: z.string(),
  reducedMotion: z.boolean(),
});
export type ViewTheme = z.infer<typeof viewTheme>;

export const viewKinds = ['vega-lite', 'plotly', 'html'] as const;
export const viewKind = z.enum(viewKinds);
export type ViewKind = z.infer<typeof viewKind>;

/** A message that a frame may send has at most this many characters; a picture at most `pictureBase64`. */
export const viewLimits = {
  messageCharacters: 2000,
  pictureBase64: 32 * 1024 * 1024,
  maxHeightPx: 20_000,
} as const;

/**
 * Shell ↔ the opaque frame of one view, over one MessagePort that the shell hands over once. The frame is hostile:
 * everything it sends is parsed, and nothing that it can send does more than change what its own box shows.
 */
export const viewFrame = {
  requests: {
    'view/picture': request(
      z.strictObject({ format: pictureFormat }),
      z.strictObject({
        base64: z.string().check(z.maxLength(viewLimits.pictureBase64)),
      }),
      { timeoutMs: 20_000 },
    ),
    /** Answered by a frame whose thread is free. */
    'view/ping': request(empty, z.null(), { timeoutMs: 3_000 }),
  },
  notifications: {
    /** The source of the drawing library, UTF-8, before `view/show`. */
    'view/library': notification(z.strictObject({ bytes: z.instanceof(ArrayBuffer) })),
    /** Sent only after `view/ready` said that the network is closed. `text` is JSON for a chart, else the page. */
    'view/show': notification(z.strictObject({ kind: viewKind, text: z.string(), theme: viewTheme })),
    'view/theme': notification(viewTheme),
  },
} as const;

export const viewHost = {
  requests: {},
  notifications: {
    /** `netClosed` is the frame's own probe: false closes the frame. `problem` names what was found open. */
    'view/ready': notification(
      z.strictObject({
        netClosed: z.boolean(),
        problem: z.string().check(z.maxLength(viewLimits.messageCharacters)),
      }),
    ),
    'view/drawn': notification(
      z.strictObject({ heightPx: z.number().check(z.minimum(0), z.maximum(viewLimits.maxHeightPx)) }),
    ),
    'view/failed': notification(
      z.strictObject({ message: z.string().check(z.maxLength(viewLimits.messageCharacters)) }),
    ),
  },
} as const;
