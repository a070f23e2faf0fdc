/**
 * Replaces AWS account numbers in text for third parties. An account keeps its pseudonym for the lifetime of the
 * function, so related resources stay recognizable.
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

/** An ARN with an account number, of any partition and service. */
const ARN = /\b(arn:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:)(\d{12})(?=:)/g;
