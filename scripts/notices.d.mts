export function packagesOf(inputs: readonly string[]): string[];
export function notices(root: string, folders: readonly string[]): Promise<string>;
