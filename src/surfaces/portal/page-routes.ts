import type { ServedResponse, ServedRequest } from "../../http/server/http-types.ts";
import { isToken, formatTokenCookie } from "./portal-access.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import { readHeader } from "../../http/routing/read-header.ts";
import type { Route } from "../../http/routing/router.ts";
import { createPageFileReader, type PageFile } from "./page-files.ts";

export interface PageOptions {
  readonly token: string;
  /** Finds the folder of the built app. Returns undefined if the app is not built. */
  readonly findPages: () => string | undefined;
}

/** Paths of the app, which chooses the view by its address. */
const PAGE_PATHS = ["/", "/inbox", "/sessions", "/sessions/:id", "/login"];

/**
 * The browser app: one page for all its addresses, and its files. Pages contain no session data and need no token; their
 * script requests the data.
 */
export function createPageRoutes({ token, findPages }: PageOptions): Route[] {
  const readFiles = createPageFileReader(findPages);
  const servePage: Route["handle"] = async (request) => {
    const redirect = signIn(request, token);
    if (redirect !== undefined) return redirect;
    const files = await readFiles();
    return files === undefined ? NOT_BUILT : createFileResponse(request, files.index, PAGE_HEADERS);
  };
  const serveAsset: Route["handle"] = async (request, { file = "" }) => {
    const asset = (await readFiles())?.assets.get(file);
    if (asset === undefined)
      throw new ApiError(404, "not_found", "This file is not part of the portal of this bridge", {
        hint: "Reload the page",
      });
    return createFileResponse(request, asset, ASSET_HEADERS);
  };
  return (["GET", "HEAD"] as const).flatMap((method) => [
    ...PAGE_PATHS.map((path) => ({ method, path, handle: servePage })),
    { method, path: "/portal/assets/:file", handle: serveAsset },
  ]);
}

/**
 * Only files of this server run, and no script can turn text into markup. `blob:` and `data:` images are previews of
 * attachments.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  "content-security-policy": CONTENT_POLICY,
  "x-frame-options": "DENY",
};

/** The name of an asset changes with its content. */
const ASSET_HEADERS = {
  ...SECURITY_HEADERS,
  "cache-control": "public, max-age=31536000, immutable",
};

const NOT_BUILT: ServedResponse = {
  status: 503,
  headers: { ...PAGE_HEADERS, "content-type": "text/html; charset=utf-8", "retry-after": "5" },
  body: Buffer.from(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Spanline</title></head>
<body>
<h1>The portal is not built</h1>
<p>The bridge works, but the files of its browser app are missing. Fix: run <code>npm run build</code>, then reload.</p>
</body>
</html>
`),
};

function createFileResponse(
  request: ServedRequest,
  { contentType, bytes, gzipped }: PageFile,
  headers: ServedResponse["headers"],
): ServedResponse {
  const isGzipped = acceptsGzip(readHeader(request, "accept-encoding") ?? "");
  return {
    status: 200,
    headers: {
      ...headers,
      "content-type": contentType,
      vary: "accept-encoding",
      ...(isGzipped && { "content-encoding": "gzip" }),
    },
    body: isGzipped ? gzipped : bytes,
  };
}

/** Whether the list names gzip, and not with the weight 0. */
function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/**
 * Exchanges the token in a link for a cookie and redirects, so the token does not stay in the address bar and the
 * history.
 */
function signIn(request: ServedRequest, token: string): ServedResponse | undefined {
  const query = new URLSearchParams(request.query);
  const receivedToken = query.get("token");
  if (receivedToken === null) return undefined;
  if (!isToken(receivedToken, token)) {
    throw new ApiError(
      403,
      "access_denied",
      "The token in this link is not the token of this bridge",
      {
        hint: "Open the last link printed by `spanline up`",
      },
    );
  }
  query.delete("token");
  const rest = query.size === 0 ? "" : `?${query.toString()}`;
  return {
    status: 303,
    headers: {
      ...SECURITY_HEADERS,
      location: `${request.path}${rest}`,
      "set-cookie": formatTokenCookie(request, token),
    },
    body: new Uint8Array(),
  };
}
