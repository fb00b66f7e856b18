/** Artifacts of a context as the API shows them. */
import { z } from 'zod';
import type { DataOf } from '../data-of.ts';
import { count, instant, json, jsonObject, text } from '../fields.ts';

export const artifactEntry = z
  .object({
    artifactId: text,
    family: z.enum(['file', 'data', 'dataset']),
    name: z.string().nullable(),
    mimeType: z.string().nullable(),
    /** The current version; 0 while the first one is open. */
    version: count,
    /** Whether a version is being written. */
    open: z.boolean(),
    /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
    size: count,
    /** The run that wrote the version. */
    taskId: text,
    updatedAt: instant,
  })
  .meta({ id: 'ArtifactEntry' });

export const artifactList = z
  .object({
    artifacts: z.array(artifactEntry),
    /** Pass it as `after` to read on; null at the end. */
    next: z.string().nullable(),
  })
  .meta({ id: 'ArtifactList' });

/** One context that has artifacts, with the run that it began with, as far as the answer knows. */
const contextArtifacts = z
  .object({
    contextId: text,
    runId: text,
    workflowId: text,
    /** What the run is about, if it says so. */
    title: z.string().optional(),
    startedAt: instant,
    /** Whether something in the context is at work. */
    open: z.boolean(),
    artifacts: z.array(artifactEntry),
    /** Whether the context has more than these. */
    more: z.boolean(),
  })
  .meta({ id: 'ContextArtifacts' });

/** `GET /v1/host/cairn/artifacts`: contexts in the order of their latest root run, newest first. */
export const artifactOverview = z
  .object({ contexts: z.array(contextArtifacts), nextCursor: text.nullable() })
  .meta({ id: 'ArtifactOverview' });

/** A record, or a dataset. Files are their bytes. */
export const artifactContent = z
  .object({ data: json.optional(), schema: jsonObject.optional(), rows: z.array(jsonObject).optional() })
  .meta({ id: 'ArtifactContent' });

/** An artifact of the context of a run. The content is left out if it is large: read it at `url`. */
export const runArtifact = z
  .object({
    artifactId: text,
    contextId: text,
    /** The run that wrote the version. */
    runId: text,
    family: z.enum(['file', 'data', 'dataset']),
    name: z.string().nullable(),
    mimeType: z.string().nullable(),
    version: count,
    /** Bytes of a file, characters of a record as JSON, rows of a dataset. */
    size: count,
    updatedAt: instant,
    /** Where this version is read, on this host. */
    url: text,
    /** The record. */
    data: jsonObject.optional(),
    /** The JSON Schema of one row of a dataset, and the rows. */
    schema: jsonObject.optional(),
    rows: z.array(jsonObject).optional(),
    /** The content of a file: as text if it is valid UTF-8, else its bytes. */
    text: z.string().optional(),
    base64: z.string().optional(),
  })
  .meta({ id: 'RunArtifact' });

/** What a PUT carries: the bytes of a file, or this as JSON. */
export const artifactEdit = z.union(
  [
    z.strictObject({ data: jsonObject }),
    /** `schema` is the JSON Schema of one row. */
    z.strictObject({ schema: jsonObject.optional(), rows: z.array(jsonObject) }),
  ],
  { error: 'must be { "data": {…} } or { "schema"?: {…}, "rows": [{…}] }; with ?family=file, any JSON is a file' },
);

/** The version that a PUT wrote, and the task that wrote it. */
export const artifactSaved = z
  .object({
    artifactId: text,
    /** The version that is current now. Absent while the task is still at work. */
    version: count.optional(),
    contextId: text,
    taskId: text,
  })
  .meta({ id: 'ArtifactSaved' });

export type ArtifactSaved = DataOf<typeof artifactSaved>;
export type ArtifactEntry = DataOf<typeof artifactEntry>;
export type ArtifactList = DataOf<typeof artifactList>;
export type RunArtifact = DataOf<typeof runArtifact>;
export type ArtifactOverview = DataOf<typeof artifactOverview>;
