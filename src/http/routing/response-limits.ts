/** Statuses which can end an exchange. Statuses below 200 only announce a later response. */
export const FINAL_STATUSES = { min: 200, max: 599 } as const;

export function isFinalStatus(status: number): boolean {
  const { min, max } = FINAL_STATUSES;
  return Number.isInteger(status) && status >= min && status <= max;
}

/**
 * Whether a value is valid in an HTTP header: visible characters, spaces and tabs on one line. Node throws on any other
 * value, and the request would get no response.
 */
export function isHeaderValue(value: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value);
}

export function isHeaderName(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}
