export function languageModelTools(): { readonly name: string }[];
