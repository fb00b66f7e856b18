/** Media types of files: which are well-formed, and that of a name by its ending. */

const byEnding: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  txt: 'text/plain',
  csv: 'text/csv',
  html: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  ts: 'text/plain',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  pdf: 'application/pdf',
  zip: 'application/zip',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
};

export function mimeTypeOf(name: string): string {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(byEnding, ending) ? (byEnding[ending] ?? '') : 'application/octet-stream';
}

const wellFormed = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:\s*;\s*[\w-]{1,40}=(?:[\w.+-]{1,100}|"[\w .+-]{0,100}"))*$/;

/** Whether a header can say it. Types come from clients, tools and bundles, and are sent to browsers. */
export const isMimeType = (text: string): boolean =>
  text.length <= 200 && !/[\r\n\t]/.test(text) && wellFormed.test(text);
