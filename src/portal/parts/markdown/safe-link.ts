/** Returns the address of a link which is safe to follow: http, https or mailto. Null for any other. */
export function toSafeLink(href: string): string | null {
  const isAllowed = /^(?:https?:\/\/|mailto:)[^\s]/i.test(href) && href.length <= MAX_LENGTH;
  return isAllowed && URL.canParse(href) ? new URL(href).href : null;
}

const MAX_LENGTH = 4000;
