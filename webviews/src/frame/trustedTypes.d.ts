/** The part of Trusted Types that is used here. <https://www.w3.org/TR/trusted-types/> */
interface TrustedText {
  toString(): string;
}
interface TrustedTypePolicy {
  createHTML(text: string, use?: string): TrustedText;
  createScriptURL(url: string): TrustedText;
}
interface TrustedTypePolicyRules {
  createHTML?(text: string, type?: string, sink?: string): string | null;
  createScript?(text: string, type?: string, sink?: string): string | null;
  createScriptURL?(url: string, type?: string, sink?: string): string | null;
}
interface Window {
  readonly trustedTypes?: { createPolicy(name: string, rules: TrustedTypePolicyRules): TrustedTypePolicy };
}
