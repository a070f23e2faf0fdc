import { useEffect, useRef, useState } from "react";
import type { OutgoingImage } from "../state/session-actions.ts";
import { chooseFiles } from "./attachments.ts";

/** An image which is attached to the message. */
export interface Attachment {
  readonly id: number;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly file: File;
  /** Address of the preview, on this page only. */
  readonly previewUrl: string;
}

export interface Attachments {
  readonly list: readonly Attachment[];
  /** Why files were refused. */
  readonly problems: readonly string[];
  readonly add: (files: readonly File[]) => void;
  readonly remove: (id: number) => void;
  readonly clear: () => void;
}

export function useAttachments(): Attachments {
  const [list, setList] = useState<readonly Attachment[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const nextId = useRef(1);
  const urls = useRef(new Set<string>());
  useEffect(() => {
    const present = urls.current;
    return () => {
      for (const url of present) URL.revokeObjectURL(url);
    };
  }, []);

  const release = ({ previewUrl }: Attachment): void => {
    URL.revokeObjectURL(previewUrl);
    urls.current.delete(previewUrl);
  };
  return {
    list,
    problems,
    add(files) {
      const choice = chooseFiles(list, files);
      const added = choice.accepted.map((file) => {
        const previewUrl = URL.createObjectURL(file);
        urls.current.add(previewUrl);
        const { name, type, size } = file;
        return { id: nextId.current++, name, type, size, file, previewUrl };
      });
      setList([...list, ...added]);
      setProblems(choice.problems);
    },
    remove(id) {
      const removed = list.find((one) => one.id === id);
      if (removed !== undefined) release(removed);
      setList(list.filter((one) => one !== removed));
      setProblems([]);
    },
    clear() {
      for (const attachment of list) release(attachment);
      setList([]);
      setProblems([]);
    },
  };
}

/** Reads the bytes of the images. Rejects if an attached file was changed or removed. */
export function readImages(list: readonly Attachment[]): Promise<OutgoingImage[]> {
  return Promise.all(
    list.map(async ({ name, type, file }) => ({
      name,
      mediaType: type,
      data: encodeBase64(new Uint8Array(await file.arrayBuffer())),
    })),
  );
}

/** Bytes per call, because the arguments of a call are limited. A multiple of 3: base64 parts can then be joined. */
const CHUNK = 0x6000;

function encodeBase64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK)
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK))));
  return parts.join("");
}
