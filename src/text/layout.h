// SPDX-License-Identifier: Apache-2.0
// text/layout.h — lays out a stream of words, groups and possible line breaks. A group that fits
// stays on one line. Otherwise its own breaks become new lines, and the groups inside it are tried
// again. The time is linear in the length of the stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lemma::text {

class Layout {
public:
    static constexpr int64_t kIndent = 4;

    explicit Layout(size_t max_columns) : max_columns_(static_cast<int64_t>(max_columns)) {}

    void text(std::string_view text);
    // Text after a line, such as a comment: it does not count for fitting.
    void aside(std::string_view text);

    void line() { add(Kind::Line); }           // a space, or a new line
    void soft_line() { add(Kind::SoftLine); }  // nothing, or a new line
    void hard_line();                          // a new line; not inside a group

    // All breaks of the group become new lines, or none does.
    template <class Body>
    void group(Body body) {
        bracketed(Kind::OpenGroup, Kind::CloseGroup, body);
    }
    // A break of the group becomes a new line only if the text after it does not fit.
    template <class Body>
    void fill(Body body) {
        bracketed(Kind::OpenFill, Kind::CloseGroup, body);
    }
    // New lines inside are indented by one more step.
    template <class Body>
    void nest(Body body) {
        bracketed(Kind::Nest, Kind::Unnest, body);
    }
    // New lines inside begin at the current column.
    template <class Body>
    void align(Body body) {
        bracketed(Kind::Align, Kind::Unnest, body);
    }

    // The last written word, unless possible white space follows it.
    std::string_view last_text() const;

    // The laid-out text of everything written.
    std::string take();

private:
    enum class Kind : uint8_t {
        Text,
        Aside,
        Line,
        SoftLine,
        HardLine,
        OpenGroup,
        OpenFill,
        CloseGroup,
        Nest,
        Align,
        Unnest,
    };
    struct Item {
        Kind kind{};
        size_t begin = 0, size = 0;  // in pool_
    };
    enum class Mode : uint8_t { Flat, Broken, Fill };
    class Measure;

    template <class Body>
    void bracketed(Kind open, Kind close, Body& body) {
        add(open);
        body();
        add(close);
    }
    void add(Kind kind) { items_.push_back({.kind = kind}); }
    void add_text(Kind kind, std::string_view text);
    std::string_view text_of(const Item& item) const {
        return std::string_view(pool_).substr(item.begin, item.size);
    }

    void render();
    void render(const Item& item, int64_t needed);
    void open(Mode mode, bool fits) {
        modes_.push_back(modes_.back() == Mode::Flat || fits ? Mode::Flat : mode);
    }
    bool breaks_here(bool fits) const {
        return modes_.back() == Mode::Fill ? !fits : modes_.back() == Mode::Broken;
    }
    void put_new_line();
    void put(std::string_view text);

    int64_t max_columns_;
    std::vector<Item> items_;  // not laid out yet; groups are whole
    std::string pool_;         // their texts

    std::string out_;
    int64_t column_ = 0;
    bool line_begins_ = true;  // the indentation is not written yet
    std::vector<Mode> modes_{Mode::Broken};
    std::vector<int64_t> indents_{0};
};

}  // namespace lemma::text
