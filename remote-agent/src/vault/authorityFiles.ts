/** Where a card finds the authority that its egress proxy signs with: alone, and beside those of this machine. */
export const authorityFiles = {
  own: '/etc/sallyport/authority.pem',
  all: '/etc/sallyport/authorities.pem',
} as const;

/**
 * What makes the usual programs accept that authority. Those that take one file in place of all others get all; Node
 * and Deno add to what they have.
 */
export const authorityEnvironment: Readonly<Record<string, string>> = {
  SSL_CERT_FILE: authorityFiles.all,
  CURL_CA_BUNDLE: authorityFiles.all,
  GIT_SSL_CAINFO: authorityFiles.all,
  REQUESTS_CA_BUNDLE: authorityFiles.all,
  PIP_CERT: authorityFiles.all,
  AWS_CA_BUNDLE: authorityFiles.all,
  CARGO_HTTP_CAINFO: authorityFiles.all,
  NODE_EXTRA_CA_CERTS: authorityFiles.own,
  DENO_CERT: authorityFiles.own,
};
