import type { ReactNode } from "react";
import { formatBytes } from "../parts/format-amount.ts";
import { Icon } from "../parts/icons.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { Attachments } from "./use-attachments.tsx";

/** The attached images with their previews, and why files were refused. */
export function AttachmentList({ attachments }: { readonly attachments: Attachments }): ReactNode {
  const { list, problems, remove } = attachments;
  return (
    <>
      {list.length > 0 && (
        <ul className="composer-images" aria-label="Attached images">
          {list.map(({ id, name, size, previewUrl }) => (
            <li key={id}>
              <img src={previewUrl} alt="" />
              <span className="composer-image-name">
                <UntrustedText text={name} />
                <span className="composer-muted">{formatBytes(size)}</span>
              </span>
              <button
                type="button"
                className="composer-icon-button"
                aria-label={`Remove ${name}`}
                onClick={() => remove(id)}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problems.length > 0 && (
        <ul className="composer-problems" role="alert">
          {problems.map((problem) => (
            <li key={problem}>
              <UntrustedText text={problem} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
