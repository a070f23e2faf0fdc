/** Removes the port and normalizes as URLs do: lowercase, IPv6 in brackets. Undefined if the host is invalid. */
export function parseHostName(host: string): string | undefined {
  const url = `http://${host}`;
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** Puts IPv6 addresses in brackets, as in URLs. */
export function formatUrlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
