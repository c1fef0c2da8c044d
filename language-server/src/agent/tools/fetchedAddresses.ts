/**
 * The addresses that an editor fetches by itself when it shows a file: schemas that JSON, YAML, TOML and XML name in
 * their text. Who writes one makes the editor tell that host what it likes. Finds too many rather than too few.
 */
export function fetchedAddresses(name: string, text: string): ReadonlySet<string> {
  const found = new Set<string>();
  if (!mayName(name, text)) return found;
  for (const pattern of patterns)
    for (const [, address] of unescaped(text).matchAll(pattern)) if (address) found.add(address);
  return found;
}

const fetchedKinds =
  /\.(json[a-z0-9]*|[a-z]*json|jsonld|webmanifest|importmap|code-[a-z]+|ya?ml|toml|xml|xsd|xslt?|svg|wsdl|rng|dtd|config|props|targets|[a-z]+proj|plist)$/i;

/** By its name, or because it begins like JSON or XML: what a name means is a setting of the editor. */
function mayName(name: string, text: string): boolean {
  return fetchedKinds.test(name) || /^\uFEFF?\s*(?:[{[<]|\/[/*])/.test(text);
}

const address = '[\\s\\S]{0,300}?((?:https?|ftp):\\\\?/\\\\?/[^\\s"\'<>]*)';
const patterns = [
  new RegExp(`\\$schema${address}`, 'gi'),
  new RegExp(`#:schema${address}`, 'gi'),
  new RegExp(`(?:schemaLocation|<!DOCTYPE|<!ENTITY|xml-model|xml-stylesheet|xi:include)${address}`, 'gi'),
];

/** Escapes of JSON are read as what they stand for, so that they can't hide the word. */
function unescaped(text: string): string {
  return text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
}
