/* JSON as storm.h hands it on: pieces of text, found and compared where they stand. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storm.h"

#define SPACE " \t\r\n"

static const char *skip_space(const char *p) {
    return p + strspn(p, SPACE);
}

/* p stands on the opening quote; the end is behind the closing one. A backslash hides what follows it. */
static const char *skip_string(const char *p) {
    for (p++; *p != '"' && *p != '\0'; p++)
        if (*p == '\\' && p[1] != '\0') p++;
    return *p == '"' ? p + 1 : p;
}

/* Skip one value of any kind. It counts brackets and does not recurse: no nesting is too deep. */
static const char *skip_value(const char *p) {
    long depth = 0;
    do {
        if (*p == '"') p = skip_string(p);
        else if (*p == '{' || *p == '[') depth++, p++;
        else if (*p == '}' || *p == ']') depth--, p++;
        else if (depth > 0 && *p != '\0' && strchr(",:" SPACE, *p)) p++;
        else p += strcspn(p, "{}[]\",:" SPACE); /* a number, true, false or null */
    } while (depth > 0 && *p != '\0');
    return p;
}

StormJson storm_member(StormJson object, const char *key) {
    StormJson found = {0};
    if (object.text == NULL || *object.text != '{') return found;
    const char *p = skip_space(object.text + 1);
    while (*p == '"') {
        const char *name = p + 1, *end = skip_string(p);
        bool same = (size_t)(end - 1 - name) == strlen(key) && memcmp(name, key, strlen(key)) == 0;
        const char *value = skip_space(skip_space(end) + 1);
        p = skip_value(value);
        if (same) found = (StormJson){value, (size_t)(p - value)};
        p = skip_space(p);
        if (*p == ',') p = skip_space(p + 1);
    }
    return found;
}

bool storm_each(StormJson list, StormJson *item) {
    if (list.text == NULL || *list.text != '[') return false;
    const char *p = item->text == NULL ? list.text + 1 : skip_space(item->text + item->length) + 1;
    p = skip_space(p);
    if (p >= list.text + list.length - 1) return false;
    *item = (StormJson){p, (size_t)(skip_value(p) - p)};
    return true;
}

bool storm_is(StormJson string, const char *text) {
    if (string.text == NULL || *string.text != '"') return false;
    return string.length == strlen(text) + 2 && memcmp(string.text + 1, text, string.length - 2) == 0;
}

static unsigned long unicode_escape(const char *digits) {
    char four[5] = "";
    return strtoul(strncat(four, digits, 4), NULL, 16);
}

static void put_utf8(unsigned long code, FILE *out) {
    static const unsigned char first[] = {0x00, 0xC0, 0xE0, 0xF0};
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    fputc((int)(first[more] | code >> 6 * more), out);
    while (more-- > 0) fputc((int)(0x80 | (code >> 6 * more & 0x3F)), out);
}

char *storm_decode(StormJson string) {
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    char *decoded = NULL;
    size_t size;
    FILE *out = open_memstream(&decoded, &size);
    if (out == NULL) abort();
    const char *end = string.text == NULL ? NULL : string.text + string.length - 1;
    for (const char *p = string.text + 1; p < end; p++) {
        if (*p != '\\') {
            fputc(*p, out);
        } else if (*++p == 'u') {
            unsigned long code = unicode_escape(p + 1);
            p += 4;
            if (code >= 0xD800 && code < 0xDC00 && p[1] == '\\' && p[2] == 'u') { /* half of a pair */
                code = 0x10000 + ((code - 0xD800) << 10) + (unicode_escape(p + 3) - 0xDC00);
                p += 6;
            }
            put_utf8(code, out);
        } else {
            const char *letter = strchr(letters, *p);
            fputc(letter ? meanings[letter - letters] : *p, out);
        }
    }
    fclose(out);
    return decoded;
}

char *storm_quote(const char *text) {
    char *quoted = NULL;
    size_t size;
    FILE *out = open_memstream(&quoted, &size);
    if (out == NULL) abort();
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') fprintf(out, "\\%c", *p);
        else if (*p < ' ') fprintf(out, "\\u%04x", *p);
        else fputc(*p, out);
    }
    fputc('"', out);
    fclose(out);
    return quoted;
}
