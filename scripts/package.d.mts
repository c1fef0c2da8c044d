export const largestVsixBytes: number;
export function stageExtension(folder: string): Promise<string>;
export function packExtension(
  folder: string,
  vsixPath: string,
): Promise<{ vsixPath: string; sizeBytes: number; files: string[] }>;
export function listFiles(folder: string): Promise<string[]>;
