/** The host without its port, as a URL spells it: lower case, IPv6 in brackets. Undefined when it is none. */
export function parseHostName(host: string): string | undefined {
  const url = `http://${host}`;
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** As URLs have it. */
export function formatUrlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
