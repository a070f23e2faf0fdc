/** A browser which opens the response as a document runs no script and loads no further content. */
export const SANDBOX_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox",
} as const;

/** The value of `content-disposition` for a download. */
export function formatAttachment(name: string): string {
  return `attachment; filename="${name.replace(/[^\w.-]/g, "_").slice(-100)}"`;
}
