/** Every bound of the product that is not a setting, in one place. Units are in the names. */
export const limits = {
  /** Largest JSON message on any pipe. Bulk data travels as blobs. */
  messageBytes: 8 * 1024 * 1024,
  requestTimeoutMs: 30_000,
  manifestBytes: 1024 * 1024,
  /** What the engine tells of a project, each card with its ports and permissions, is one message. */
  cardsPerProject: 10_000,
  filesPerTree: 100_000,
  pathBytes: 4096,
  /** Folders within folders of one tree. */
  treeDepth: 64,
  /** Largest card folder that is frozen. */
  cardFolderBytes: 1024 * 1024 * 1024,
  logChunkBytes: 64 * 1024,
  /** A line longer than this is shown cut, with its whole size said; the stored log keeps all of it. */
  logLineShownBytes: 8 * 1024,
  pageSize: 200,
  standbySandboxes: 8,
  standbyIdleMs: 10 * 60_000,
  blobStoreBytes: 10 * 1024 * 1024 * 1024,
  /** What the undo history keeps; the oldest goes first. */
  historyBytes: 1024 * 1024 * 1024,
  quickjsMemoryBytes: 64 * 1024 * 1024,
} as const;

/** Limits of a card where its manifest names none. */
export const defaultCardLimits = {
  seconds: 300,
  memoryMB: 1024,
  processes: 64,
  outputMB: 256,
  logMB: 16,
} as const;

/** The largest values a manifest may ask for. */
export const maximumCardLimits = {
  seconds: 86_400,
  memoryMB: 262_144,
  processes: 4096,
  outputMB: 65_536,
  logMB: 1024,
} as const;

/** What an app stores where its manifest names no `storageMB` and a plugin of it has `storage`. */
export const defaultAppStorageMB = 16;

/** The largest values an app's manifest may ask for. */
export const maximumAppLimits = {
  storageMB: 1024,
} as const;
