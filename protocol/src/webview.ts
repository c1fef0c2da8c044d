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
    /** Asks a person where to save a picture of a view. Resolves false on cancel. */
    'run/savePicture': request(
      z.strictObject({ name: z.string(), format: z.enum(['png', 'svg']), base64: z.string() }),
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
    'run/select': notification(card),
    'run/message': notification(z.strictObject({ text: z.string() })),
  },
} as const;

/** Run view ↔ the opaque frame of one view, over one MessagePort. The frame is hostile: everything is parsed. */
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

export const viewFrame = {
  requests: {
    'view/picture': request(
      z.strictObject({ format: z.enum(['png', 'svg']) }),
      z.strictObject({ base64: z.string() }),
    ),
  },
  notifications: {
    'view/theme': notification(viewTheme),
  },
} as const;

export const viewHost = {
  requests: {},
  notifications: {
    /** `netClosed` is the frame's own probe: false closes the frame. */
    'view/ready': notification(z.strictObject({ netClosed: z.boolean() })),
    'view/drawn': notification(z.strictObject({ heightPx: z.number() })),
    'view/failed': notification(z.strictObject({ message: z.string() })),
  },
} as const;
