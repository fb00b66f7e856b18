/** Where the content of an artifact is, and what of it a preview shows. */
import type { ArtifactReading, ArtifactState, ArtifactVersionState } from '@cairn/client/context';
import { type Content, isImage, isText } from './preview.tsx';

/** An address of this host. As a link it is a download; as an image it runs nothing. */
export function artifactAddress(contextId: string, artifactId: string, version?: number): string {
  const path = `/api/contexts/${encodeURIComponent(contextId)}/artifacts/${encodeURIComponent(artifactId)}`;
  return version === undefined ? path : `${path}?version=${version}`;
}

/** What the events of a conversation hold of a version. */
export function contentOfVersion(
  { family, mimeType, name, artifactId }: ArtifactState,
  { text, encoding, data, rows, isPartial }: ArtifactVersionState,
): Content {
  if (isPartial) return { is: 'bytes' };
  if (family === 'data') return { is: 'data', data };
  if (family === 'dataset') return { is: 'rows', rows };
  if (encoding === 'utf-8') return { is: 'text', text, mimeType };
  if (isImage(mimeType)) return { is: 'image', address: `data:${mimeType};base64,${text}`, name: name ?? artifactId };
  return { is: 'bytes' };
}

/** More is not read into the page. */
const MAX_BYTES = 2_000_000;

interface ReadFacts {
  readonly family: ArtifactState['family'];
  readonly name: string;
  readonly address: string;
}

/** Reads a version for a preview. */
export async function contentOfReading(
  reading: ArtifactReading,
  { family, name, address }: ReadFacts,
): Promise<Content> {
  const { mimeType, body } = reading;
  if (family === 'file' && !isText(mimeType)) {
    await body.cancel();
    return isImage(mimeType) ? { is: 'image', address, name } : { is: 'bytes' };
  }
  const text = await textOf(body);
  if (text === null) return { is: 'bytes' };
  if (family === 'file') return { is: 'text', text, mimeType };
  const value = JSON.parse(text) as { data?: unknown; rows?: readonly Record<string, unknown>[] };
  return family === 'data' ? { is: 'data', data: value.data } : { is: 'rows', rows: value.rows ?? [] };
}

/** Null for a content that is too large to show. */
async function textOf(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_BYTES) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}
