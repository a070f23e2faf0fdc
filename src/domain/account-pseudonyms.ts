/**
 * Hides account numbers in what is meant for others. One account has one pseudonym as long as the function lives, so
 * that what belongs together can still be seen.
 */
export function accountPseudonyms(): (text: string) => string {
  const known = new Map<string, string>();
  const pseudonym = (account: string): string => {
    const given = known.get(account) ?? String(known.size + 1).padStart(12, "0");
    known.set(account, given);
    return given;
  };
  return (text) =>
    text.replaceAll(ARN, (_, start: string, account: string) => start + pseudonym(account));
}

/** Of any partition and service. */
const ARN = /\b(arn:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:)(\d{12})(?=:)/g;
