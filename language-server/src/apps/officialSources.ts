/**
 * The repositories of Sallyport's own maintainers: an app is marked official where it was installed from one of them. The
 * list is part of the program, so that nothing in a workspace and no app can add to it. There is none yet.
 */
export const officialSources: readonly string[] = [];
