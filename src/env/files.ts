import { z } from 'zod';

/** The bucket of `FILES_URL`. Credentials are not part of it. */
export interface BucketAddress {
  bucket: string;
  /** The beginning of all keys: empty, or ends with a slash. */
  prefix: string;
  /** Any S3 server; AWS without it. */
  endpoint: string | undefined;
  /** Without it the AWS SDK looks for a region. */
  region: string | undefined;
  /** Whether the bucket is in the path of requests, not in the host name. */
  isPathStyle: boolean;
  /** Whether downloads are redirected to the bucket where that is safe. */
  isPresigned: boolean;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[\w.-]*[\w-][\w.-]*\/)*$/;

const Options = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/ })
    .refine((url) => !/[@?#]/.test(url))
    .optional(),
  region: z
    .string()
    .regex(/^[\w-]+$/)
    .optional(),
  path_style: z.enum(['true', 'false']).optional(),
  downloads: z.enum(['streamed', 'presigned']).default('streamed'),
});

/** `s3://bucket/prefix?endpoint=…&region=…&path_style=…&downloads=…` */
export const filesUrl = z.string().transform((url, context): BucketAddress => {
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  const parsed = URL.parse(url);
  if (parsed?.protocol !== 's3:') return refuse('must be an address such as s3://bucket/prefix');
  if (parsed.username || parsed.password)
    return refuse('must not hold credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  if (!BUCKET.test(parsed.host)) return refuse('must begin with s3:// and the name of a bucket');
  const prefix = parsed.pathname.replace(/^\//, '').replace(/([^/])$/, '$1/');
  if (!PREFIX.test(prefix))
    return refuse('must have a prefix of letters, digits, dots, dashes and single slashes');
  const options = Options.safeParse(Object.fromEntries(parsed.searchParams));
  if (!options.success) {
    return refuse(
      'may have the parameters endpoint (an http or https address without credentials), region, path_style (true or false) and downloads (streamed or presigned)',
    );
  }
  const { endpoint, path_style: style, downloads } = options.data;
  return {
    bucket: parsed.host,
    prefix,
    endpoint,
    // Servers other than AWS mostly ignore the region, but a signature needs one.
    region: options.data.region ?? (endpoint && 'us-east-1'),
    isPathStyle: style ? style === 'true' : endpoint !== undefined,
    isPresigned: downloads === 'presigned',
  };
});
