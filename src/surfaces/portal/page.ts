import { createHash } from "node:crypto";
import type { ServedResponse } from "../../http/server/http-types.ts";
import { SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** A page without data; its script requests the data. */
export interface PageParts {
  readonly title: string;
  /** Trusted markup, written here. */
  readonly body: string;
  readonly script: string;
}

export function renderPage({ title, body, script }: PageParts): ServedResponse {
  return {
    status: 200,
    headers: {
      ...SECURITY_HEADERS,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": createContentPolicy(script),
      "x-frame-options": "DENY",
    },
    body: Buffer.from(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>${body}<script>${script}</script>
</body>
</html>
`),
  };
}

/**
 * The content security policy: only the page's own script and style run, and the script cannot turn text into markup.
 */
function createContentPolicy(script: string): string {
  return [
    "default-src 'none'",
    `script-src '${hashScript(script)}'`,
    `style-src '${hashScript(PAGE_STYLE)}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function hashScript(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
