/** Task events of artifacts: files and datasets in pieces, records whole. */
import { z } from 'zod';
import { place, taskEventOf } from './envelope.ts';

const artifact = {
  artifactId: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
};

export const fileWrite = taskEventOf('file-write', {
  ...artifact,
  data: z.string(),
  index: place,
  complete: z.boolean(),
  mimeType: z.string().optional(),
  encoding: z.enum(['utf-8', 'base64']).optional(),
});

export const dataWrite = taskEventOf('data-write', { ...artifact, data: z.looseObject({}) });

export const datasetWrite = taskEventOf('dataset-write', {
  ...artifact,
  rows: z.array(z.looseObject({})),
  index: place,
  complete: z.boolean(),
  schema: z.looseObject({}).optional(),
});
