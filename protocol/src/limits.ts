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

/** What one app may be made of, as it comes from a folder, an archive or a repository. */
export const appLimits = {
  files: 20_000,
  fileBytes: 64 * 1024 * 1024,
  totalBytes: 256 * 1024 * 1024,
  /** An archive file, packed. */
  archiveBytes: 256 * 1024 * 1024,
  /** Unpacked to packed bytes of one entry above 1 MiB: text is far below. */
  packRatio: 200,
  packages: 500,
  packageBytes: 64 * 1024 * 1024,
  /** The text of the page itself, without what it names. */
  htmlBytes: 4 * 1024 * 1024,
  /** Module scripts of one page. */
  pageModules: 50,
  /** The document that is put into the frame. */
  pageBytes: 64 * 1024 * 1024,
  /** What a person deleted can be brought back for this long. */
  deletedDays: 30,
  logLines: 1000,
} as const;
