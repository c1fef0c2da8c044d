/** The types of `sallyport` as authors get them. */
export function declarations(): Promise<string>;

/** Writes a new app from the template into `folder`, which must not be there. Rejects with a sentence. */
export function newApp(id: string, folder: string): Promise<void>;
