/**
 * Hides account numbers in what is meant for others. One account has one pseudonym as long as the function lives, so
 * that what belongs together can still be seen.
 */
export function createAccountMasker(): (text: string) => string {
  const pseudonyms = new Map<string, string>();
  const pseudonym = (account: string): string => {
    const nextPseudonym = pseudonyms.get(account) ?? String(pseudonyms.size + 1).padStart(12, "0");
    pseudonyms.set(account, nextPseudonym);
    return nextPseudonym;
  };
  return (text) =>
    text.replaceAll(ARN, (_, start: string, account: string) => start + pseudonym(account));
}

/** Of any partition and service. */
const ARN = /\b(arn:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:)(\d{12})(?=:)/g;
