/** Names of artifacts, which are paths without surprises, and their media types. */

export const MAX_ARTIFACT_NAME = 512;

const segment = String.raw`(?!\.{1,2}(?:/|$))[^/\\\p{C}]{1,128}`;

/** Relative, without "..", "\" or control characters. */
export const artifactPath = new RegExp(`^${segment}(?:/${segment}){0,15}$`, 'u');

export const isArtifactName = (name: string): boolean => name.length <= MAX_ARTIFACT_NAME && artifactPath.test(name);

const wellFormed = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:\s*;\s*[\w-]{1,40}=(?:[\w.+-]{1,100}|"[\w .+-]{0,100}"))*$/;

/** Whether a header can say it. Types come from clients, tools and bundles, and are sent to browsers. */
export const isMimeType = (text: string): boolean =>
  text.length <= 200 && !/[\r\n\t]/.test(text) && wellFormed.test(text);
