/** A status that can end an exchange: those below 200 only announce another. */
export const FINAL_STATUSES = { min: 200, max: 599 } as const;

export function isFinalStatus(status: number): boolean {
  const { min, max } = FINAL_STATUSES;
  return Number.isInteger(status) && status >= min && status <= max;
}

/** By the grammar of HTTP a field is one line of visible characters, spaces and tabs; a server that is told to send another cannot answer at all. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value);
}

export function isHeaderName(name: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(name);
}
