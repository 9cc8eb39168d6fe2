/** uuid.h - random identifiers of RFC 9562, as 36 lower-case characters.
 *
 * Threads: any.
 */
#ifndef FB_BASE_UUID_H
#define FB_BASE_UUID_H

typedef struct fb_uuid {
    char text[37];
} fb_uuid;

fb_uuid fb_uuid_v4(void); ///< random
fb_uuid fb_uuid_v7(void); ///< sorts by the time it was made

#endif
