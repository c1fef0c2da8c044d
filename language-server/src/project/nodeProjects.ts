import { ProjectIndex } from './projectIndex.ts';

/**
 * The projects at `roots` as they are on disk, without an editor: for the command line and for tests. Changes are seen
 * by `refresh` alone, so nothing is left open and there is nothing to dispose.
 */
export function openProjects(options: { readonly roots: readonly string[] }): ProjectIndex {
  return new ProjectIndex(options);
}
